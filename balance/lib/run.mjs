// The shared frame of every balance script: options, one guarded HTTP exchange, one JSON line out.
//
// Why so little trust: this code holds an account's key and reads whatever a network answers. So no text
// of the answer, of an option or of a thrown error is ever printed; every message below is composed here.

/** Longest answer read, in bytes after decompression. A balance is a few hundred; more is not a balance. */
const BODY_LIMIT = 1024 * 1024
const DEFAULT_TIMEOUT_MS = 10_000
const REDIRECT_LIMIT = 3

/** A missing reading. The message is printed, so it must never hold anything that came from outside. */
export class Failure extends Error {
  /** @param {string} message @param {number} [status] HTTP status that led here */
  constructor(message, status) {
    super(message)
    this.status = status
  }
}

/**
 * @typedef {object} Reading
 * @property {number} remaining
 * @property {string} [unit]
 * @property {string} [resetsAt]
 * @property {number} [maximum]
 * @property {string} [error] a refusal the provider states alongside its figures
 */

/**
 * @typedef {object} Provider
 * @property {string} keyEnv variable the key is read from unless --key-env names another
 * @property {string} [baseUrl] default origin; a provider without one needs --base-url
 * @property {string} baseUrlEnv variable that replaces the default origin
 * @property {string[]} [options] further --name VALUE options of this provider
 * @property {(context: Context) => Promise<Reading>} read
 */

/**
 * @typedef {object} Context
 * @property {(path: string, request?: { raw?: boolean, share?: number }) => Promise<any>} get
 * @property {Record<string, string>} options
 * @property {string} host
 */

/** A finite number, also where the provider writes it as a decimal string; anything else is undefined. */
export function toNumber(value) {
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined
  if (typeof value !== 'string') return undefined
  const text = value.trim()
  // Number('') is 0 and Number('0x10') is 16: neither may become a balance.
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined
  const number = Number(text)
  return Number.isFinite(number) ? number : undefined
}

/** Like toNumber, but a missing or malformed field ends the reading. @param {string} name our own label */
export function needNumber(value, name) {
  const number = toNumber(value)
  if (number === undefined) throw new Failure(`the answer has no usable ${name}`)
  return number
}

/** Like a field access, but insists on an object. @param {string} name our own label */
export function needObject(value, name) {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Failure(`the answer has no usable ${name}`)
  }
  return value
}

/** Removes the noise of binary fractions from a figure we computed ourselves. */
export function round(value) {
  return Math.round(value * 1e6) / 1e6
}

/**
 * An instant as ISO text. Takes epoch seconds or milliseconds and ISO text that names its zone; a time
 * without a zone is dropped, since guessing one would schedule a retry hours off.
 */
export function toIso(value) {
  const number = toNumber(value)
  let date
  if (number !== undefined) {
    if (number <= 0) return undefined
    date = new Date(number < 1e12 ? number * 1000 : number)
  } else if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:?\d\d)$/i.test(value)) {
    date = new Date(value)
  }
  return date === undefined || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/**
 * The reading of a plan with several windows: the one with least left decides, because a request needs
 * room in all of them. Of equally empty windows the one that opens last decides when to come back.
 * @param {{ remaining: number | undefined, resetsAt?: string | undefined }[]} windows percent left each
 * @returns {Reading}
 */
export function tightest(windows) {
  const known = windows.filter(window => window.remaining !== undefined)
  if (known.length === 0) throw new Failure('the answer has no usable plan window')
  const least = known.reduce((a, b) => {
    if (a.remaining !== b.remaining) return a.remaining < b.remaining ? a : b
    return (a.resetsAt ?? '') >= (b.resetsAt ?? '') ? a : b
  })
  return {
    remaining: round(least.remaining),
    unit: 'percent',
    maximum: 100,
    ...(least.resetsAt === undefined ? {} : { resetsAt: least.resetsAt }),
  }
}

/** Runs one provider's script to its end: prints exactly one JSON object and exits 0 or 1. @param {Provider} provider */
export async function run(provider) {
  let key = ''
  let output
  let code = 0
  try {
    const options = parseOptions(process.argv.slice(2), provider)
    key = readKey(options['key-env'] ?? provider.keyEnv)
    const base = readBase(options['base-url'] ?? nonEmpty(process.env[provider.baseUrlEnv]) ?? provider.baseUrl, options)
    // On the provider's own host the path is known, so a model URL ("…/anthropic", "…/beta") serves as well.
    if (provider.baseUrl !== undefined && base.host === new URL(provider.baseUrl).host) base.pathname = '/'
    const timeoutMs = readTimeout(options['timeout-ms'])
    const reading = await provider.read({
      options,
      host: base.hostname,
      get: exchange(base, key, timeoutMs),
    })
    output = checked(reading, options.unit)
  } catch (error) {
    code = 1
    output = { error: error instanceof Failure ? error.message : 'the balance could not be read' }
  }
  let text = JSON.stringify(output)
  // Nothing above copies the key; this is the last line of defence should a later change do so.
  // In a line of JSON a quote or a backslash of the key is written with another one.
  if (key.length >= 4 && [key, JSON.stringify(key).slice(1, -1)].some(written => text.includes(written))) {
    code = 1
    text = JSON.stringify({ error: 'the reading was withheld because it would have shown the key' })
  }
  // A socket the peer never closes must not keep the process alive once the line is out.
  process.stdout.write(text + '\n', () => process.exit(code))
}

function checked(reading, unit) {
  const { remaining, resetsAt, maximum, error } = reading
  if (!Number.isFinite(remaining)) throw new Failure('the answer has no usable balance')
  return {
    remaining,
    unit: unit ?? reading.unit ?? 'credits',
    ...(resetsAt === undefined ? {} : { resetsAt }),
    ...(maximum === undefined || !Number.isFinite(maximum) ? {} : { maximum }),
    ...(error === undefined ? {} : { error }),
  }
}

function parseOptions(args, provider) {
  const known = new Set(['key-env', 'base-url', 'timeout-ms', 'unit', ...provider.options ?? []])
  const options = {}
  for (let index = 0; index < args.length; index++) {
    const [, name, inline] = /^--([a-z][a-z-]*)(?:=([^]*))?$/.exec(args[index]) ?? []
    if (name === 'allow-http' && inline === undefined) {
      options['allow-http'] = 'yes'
      continue
    }
    // An unknown word is not echoed: it may be a key pasted in the wrong place.
    if (name === undefined || !known.has(name)) throw new Failure('unknown option')
    const value = inline ?? args[++index]
    if (value === undefined || value === '' || (inline === undefined && value.startsWith('--'))) {
      throw new Failure(`--${name} needs a value`)
    }
    options[name] = value
  }
  if (options.unit !== undefined && !/^[A-Za-z][A-Za-z-]{0,23}$/.test(options.unit)) {
    throw new Failure('--unit takes a short word')
  }
  return options
}

function readKey(name) {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) throw new Failure('--key-env takes the name of an environment variable')
  const key = (process.env[name] ?? '').trim()
  if (key === '') {
    // Only a name in the usual spelling is shown; anything else might be the key itself, given by mistake.
    const shown = /^[A-Z][A-Z0-9_]{0,63}$/.test(name) ? name : 'named by --key-env'
    throw new Failure(`no key: the environment variable ${shown} is not set`)
  }
  // fetch quotes a bad header value in its error, so it must never get to see one.
  if (!/^[\x21-\x7e]+$/.test(key)) throw new Failure('the key holds characters that no HTTP header can carry')
  return key
}

function readBase(text, options) {
  if (text === undefined) throw new Failure('this provider needs --base-url')
  let url
  try {
    url = new URL(text)
  } catch {
    throw new Failure('the base URL is not a URL')
  }
  if (url.username !== '' || url.password !== '') throw new Failure('the base URL must not hold credentials')
  if (url.search !== '' || url.hash !== '') throw new Failure('the base URL must not hold a query or a fragment')
  const loopback = ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname)
  if (url.protocol === 'http:' && !loopback && options['allow-http'] === undefined) {
    throw new Failure('the base URL would send the key unencrypted; use https or add --allow-http')
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') throw new Failure('the base URL must be http or https')
  return url
}

function readTimeout(text) {
  if (text === undefined) return DEFAULT_TIMEOUT_MS
  const value = Number(text)
  if (!/^\d+$/.test(text) || value < 1 || value > 600_000) throw new Failure('--timeout-ms takes milliseconds from 1 to 600000')
  return value
}

function nonEmpty(text) {
  return text === undefined || text === '' ? undefined : text
}

/**
 * Joins origin and path. A base that already ends in the path's first segments ("…/v1") is accepted as
 * well, since that is the form people know from their model settings.
 */
function target(base, path) {
  const prefix = base.pathname.split('/').filter(Boolean)
  const [pathname, query] = path.split('?')
  const wanted = pathname.split('/').slice(1)
  for (let count = Math.min(prefix.length, wanted.length - 1); count > 0; count--) {
    if (prefix.slice(-count).join('/') === wanted.slice(0, count).join('/')) {
      prefix.splice(-count)
      break
    }
  }
  const url = new URL(base.origin)
  url.pathname = '/' + [...prefix, ...wanted].join('/')
  if (query !== undefined) url.search = query
  return url
}

/** Builds the one way out to the network; all requests of a run share its deadline. */
function exchange(base, key, timeoutMs) {
  const deadline = AbortSignal.timeout(timeoutMs)
  return async (path, { raw = false, share = 1 } = {}) => {
    const limitMs = Math.ceil(timeoutMs * share)
    const signal = share === 1 ? deadline : AbortSignal.timeout(limitMs)
    try {
      const response = await request(target(base, path), raw ? key : `Bearer ${key}`, signal)
      return parse(await readBody(response))
    } catch (error) {
      if (error instanceof Failure) throw error
      if (signal.aborted) throw new Failure(`no answer within ${limitMs} ms`)
      const reason = error?.cause?.code ?? error?.code
      const shown = typeof reason === 'string' && /^[A-Z][A-Z0-9_]{1,40}$/.test(reason) ? ` (${reason})` : ''
      throw new Failure(`the request failed${shown}`)
    }
  }
}

async function request(url, authorization, signal) {
  const { origin } = url
  for (let hop = 0; hop <= REDIRECT_LIMIT; hop++) {
    const response = await fetch(url, {
      headers: {
        authorization,
        accept: 'application/json',
        // Some providers turn away the generic agent of an HTTP library.
        'user-agent': 'dsh-llm-quota-retry',
      },
      // Redirects are followed by hand: the key may only ever travel to the origin it was meant for.
      redirect: 'manual',
      signal,
    })
    if (response.status < 300 || response.status > 399) {
      if (response.ok) return response
      await discard(response)
      throw new Failure(`the provider answered HTTP ${response.status}${meaning(response.status)}`, response.status)
    }
    const location = response.headers.get('location')
    await discard(response)
    let next
    try {
      next = location === null ? undefined : new URL(location, url)
    } catch {
      next = undefined
    }
    if (next?.origin !== origin || next.username !== '' || next.password !== '') {
      throw new Failure(`refused a redirect to another address (HTTP ${response.status})`, response.status)
    }
    url = next
  }
  throw new Failure('too many redirects')
}

function meaning(status) {
  if (status === 401) return ', the key was not accepted'
  if (status === 402) return ', payment required'
  if (status === 403) return ', the key may not read this'
  if (status === 404) return ', there is no such endpoint'
  if (status === 429) return ', too many requests'
  return status >= 500 ? ', an error on its side' : ''
}

/** Ends an unread body; that it was already broken is of no interest. */
async function discard(response) {
  await response.body?.cancel().catch(() => {})
}

async function readBody(response) {
  const chunks = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    // Leaving the loop cancels the stream, so an endless answer ends here too.
    if (size > BODY_LIMIT) throw new Failure('the answer is too long to be a balance')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function parse(text) {
  if (text.trim() === '') throw new Failure('the answer is empty')
  let body
  try {
    body = JSON.parse(text)
  } catch {
    throw new Failure('the answer is not JSON')
  }
  return needObject(body, 'JSON object')
}
