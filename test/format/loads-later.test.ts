import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, it } from 'vitest'
import { assertLoadsLater, migrate } from '../../demo/support/loads-later.ts'
import { type Rig, rig, say, user } from '../support/rig.ts'

const golden = fileURLToPath(new URL('../golden', import.meta.url))
const rowsOf = (file: string): any[] => readFileSync(`${golden}/${file}`, 'utf8').trimEnd().split('\n').map(line => JSON.parse(line))
const LOGS = readdirSync(golden).filter(name => name.endsWith('.jsonl'))

/** A log with a command behind it that ran once its turn was over. */
function withCommand(args: string, source: object): any[] {
  const rows = rowsOf('recovered-wait.jsonl')
  const { seq, time } = rows.at(-1)
  return [...rows,
    { type: 'command/run', seq: seq + 1, time, data: { commandId: 'c', name: 'quota-retry', args, source } },
    { type: 'command/done', seq: seq + 2, time, data: { commandId: 'c', kind: 'success', text: '' } }]
}

describe('hosts to come', () => {
  let host: Rig | undefined
  afterEach(() => host?.dispose().finally(() => { host = undefined }))

  it.each(LOGS)('load %s', (file) => {
    const rows = rowsOf(file)
    assertLoadsLater(rows)
    expect(migrate(rows).header.version).toBe(3)
  })

  it('refuse a setting as it was once written, and take it as it is written now', () => {
    expect(() => { assertLoadsLater(withCommand(' off', { kind: 'plugin', plugin: 'llm-quota-retry' })) }).toThrow('source has unexpected member')
    assertLoadsLater(withCommand(' by-plugin off', { kind: 'user' }))
  })

  it('refuse a message from a source of our own kind', () => {
    const rows = rowsOf('recovered-wait.jsonl')
    rows.filter(({ type }) => type === 'user/message')[1].data.source = { kind: 'plugin:llm-quota-retry' }
    expect(() => { assertLoadsLater(rows) }).toThrow(/unclassified message source/)
  })

  it('load every setting that is made here, by a service and from a parent', async () => {
    host = await rig({ script: () => say('done'), config: { pools: { medium: { routes: [{ provider: 'a', model: 'm' }, { provider: 'b', model: 'm' }] } } } })
    const parent = await host.start('parent')
    host.ctx.llmQuotaRetry.setEnabled(parent.session, false)
    host.ctx.llmQuotaRetry.setPool(parent.session, 'medium')
    const child = await host.start('child', undefined, { parentSession: 'parent', origin: 'subagent', delegationDepth: 1 })
    child.followup(user('work'))
    await child.whenIdle()
    const made = (agent: any) => agent.session.events.filter(({ type }: any) => type === 'command/run').map(({ data }: any) => data.args)
    expect(made(parent)).toEqual([' by-plugin off', ' by-plugin medium'])
    expect(made(child)).toEqual([' inherit off', ' inherit medium'])
  })

  it('are asked about every log of the rig', async () => {
    const bad = await rig({ script: () => say('done') })
    const agent = await bad.start()
    agent.session.append('command/run', { commandId: 'c', name: 'x', args: '', source: { kind: 'plugin', plugin: 'x' } })
    agent.session.append('command/done', { commandId: 'c', kind: 'success', text: '' })
    agent.followup(user('work'))
    await agent.whenIdle()
    await expect(bad.dispose()).rejects.toThrow('newer hosts would not load')
  })
})
