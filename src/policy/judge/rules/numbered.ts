import type { FailureKind, Rule } from './types.ts'

/** Providers that answer with bare numbers: the same number means different things at each. */
interface NumberedProvider {
  readonly name: string
  readonly provider: RegExp
  /** Where the numbers are documented. */
  readonly source: string
  readonly codes: Partial<Record<FailureKind, readonly string[]>>
  /** Numbers that nobody else uses: read them also when the provider's name says nothing. */
  readonly known?: readonly string[]
}

const PROVIDERS: readonly NumberedProvider[] = [
  {
    name: 'zhipu', provider: /zhipu|bigmodel|\bglm|z\.?ai\b|智谱/, source: 'docs.bigmodel.cn/cn/api/api-code, docs.z.ai/api-reference/api-code',
    codes: {
      'spent-allowance': ['1113', '1304', '1308', '1309', '1310'],
      'rate-limit': ['1302', '1303'],
      auth: ['1000', '1001', '1002', '1003', '1004', '1005', '1110', '1111', '1112', '1121', '1220', '1311'],
      context: ['1261'],
      server: ['1120', '1230', '1234', '1305', '1312'],
      other: ['1210', '1211', '1212', '1213', '1214', '1215', '1221', '1222', '1231', '1300', '1313'],
      'refused-content': ['1301'],
    },
    known: ['1113', '1308', '1309', '1310'],
  },
  {
    name: 'minimax', provider: /minimax/, source: 'platform.minimax.io, API error codes',
    codes: {
      'spent-allowance': ['1008', '2056', '2067'],
      'rate-limit': ['1002', '1039', '1041', '2045'],
      auth: ['1004', '2049', '2061'],
      server: ['1000', '1001', '1013', '1024', '1033', '2064'],
      'refused-content': ['1026', '1027'],
      other: ['1042', '2013', '20132'],
    },
    known: ['1008', '2056', '2064', '2067'],
  },
  {
    name: 'baidu', provider: /baidu|qianfan|wenxin|ernie|百度|千帆/, source: 'ai.baidu.com/ai-doc/WENXINWORKSHOP/tlmyncueh',
    codes: {
      'spent-allowance': ['17', '19'],
      'rate-limit': ['18', '336501', '336502'],
      auth: ['6', '13', '14', '15', '100', '110', '111'],
      context: ['336007', '336103'],
      server: ['1', '2', '4', '336000', '336100'],
    },
  },
  {
    name: 'iflytek', provider: /iflytek|xfyun|spark|讯飞|星火/, source: 'www.xfyun.cn/doc/spark, error codes',
    codes: {
      'spent-allowance': ['11201'],
      'rate-limit': ['10007', '11202', '11203'],
      auth: ['10015', '10016', '10313', '11200'],
      context: ['10907'],
      server: ['10008', '10009', '10010', '10012', '10110', '10222', '10223'],
      'refused-content': ['10013', '10014', '10019'],
      other: ['10163'],
    },
    known: ['11201'],
  },
  {
    name: 'siliconflow', provider: /silicon/, source: 'docs.siliconflow.cn, error handling',
    codes: { 'spent-allowance': ['30001', '30011'], server: ['50505'], other: ['20012', '20015'] },
    known: ['30001', '30011'],
  },
]

const WHY: Record<FailureKind, string> = {
  'spent-allowance': 'says the allowance, package or balance is used up',
  'rate-limit': 'says requests come too fast or too many at once',
  auth: 'refuses the key or the account',
  context: 'says the request is too long',
  'refused-content': 'refuses the content',
  server: 'says the service is overloaded or broken',
  other: 'refuses this request itself',
}

const exactly = (codes: readonly string[]): RegExp => new RegExp(`^(?:${codes.join('|')})$`, 'u')
const EVERY = new RegExp(PROVIDERS.map(entry => entry.provider.source).join('|'), 'u')

const rulesOf = ({ name, provider, codes, known = [] }: NumberedProvider): Rule[] =>
  (Object.entries(codes) as [FailureKind, readonly string[]][]).flatMap(([kind, list]): Rule[] => {
    const alone = list.filter(code => known.includes(code))
    const why = `the provider's numeric code ${WHY[kind]}`
    return [
      { id: `${name}-code-${kind}`, kind, confidence: 'certain', why, provider, code: exactly(list) },
      ...(alone.length === 0 ? [] : [{ id: `${name}-code-elsewhere-${kind}`, kind, confidence: 'likely' as const, why, notProvider: EVERY, code: exactly(alone) }]),
    ]
  })

/** Numeric codes as rules, e.g. `zhipu-code-spent-allowance`. */
export const NUMBERED_RULES: readonly Rule[] = PROVIDERS.flatMap(rulesOf)
