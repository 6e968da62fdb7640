/**
 * The few things that the page offers and this plugin uses, as they are used. They are described here and not
 * imported: the page's own packages move between releases, and what is absent must only leave a feature quiet.
 */
import type { ComponentType } from 'react'

/** Translate a key of this plugin's dictionary; `{name}` in the text is replaced by `params.name`. */
export type Translate = (key: string, params?: Record<string, unknown>) => string

/** What a slot is given besides the component. */
export interface SlotEntry {
  readonly name: string
  readonly id?: string
  readonly key?: string
  readonly order?: number
  readonly label?: () => string
  readonly locale?: string
  /** Props of ours; a slot of a session passes its id. */
  readonly inject?: (sessionId: string) => Record<string, unknown>
}

/** The page's slots. */
export interface Slots {
  /** Runs the callback whenever the slot is declared, and undoes it when the declaration goes. */
  inject(slot: string, callback: () => () => void): unknown
  register(entry: SlotEntry, component: ComponentType<never>): () => void
}

/** The page's languages. */
export interface Locale {
  register(namespace: string, dictionaries: Record<string, Record<string, string>>): () => void
  bind(namespace: string): Translate
  getLocale(): { readonly active: string }
}

/** What a session of the page can be told. */
export interface PageSession {
  cancel(): Promise<RpcResult>
}

/** The answer of a call to the host. */
export type RpcResult =
  | { readonly ok: true; readonly value?: unknown }
  | { readonly ok: false; readonly error: { readonly code?: string; readonly message: string } }

/** Runs a command line in a session. */
export interface RemoteCommands {
  execute(sessionId: string, line: string, images: readonly never[]): Promise<
    | { readonly ok: true; readonly value?: { readonly result: { readonly kind: string; readonly text?: string } } }
    | { readonly ok: false; readonly error: { readonly code?: string; readonly message: string } }
  >
}

/** Calls a channel that a plugin opened on the host. */
export interface Connection {
  readonly rpc: { call(channel: string, endpoint: string, payload: unknown, signal?: AbortSignal): Promise<RpcResult> }
}

/** The models that a session can be sent to, as the page's own picker has them. */
export interface SessionModels {
  readonly store: {
    getSnapshot(): { readonly current?: { readonly provider: string; readonly model: string } | null }
    subscribe(listener: () => void): () => void
  }
  select(selection: { readonly provider: string; readonly model: string; readonly reasoningEffort?: string }): Promise<unknown>
}

/** The plugin's context in the page. */
export interface PageContext {
  readonly slots: Slots
  readonly locale: Locale
  effect(run: () => () => void, label: string): unknown
  get(service: string): unknown
  inject(services: readonly string[], callback: (inner: PageContext) => void): unknown
}

/** Read a projection of the session; `undefined` where the host has none of that key. */
export type UseProjection = (key: string) => unknown

/** The part of a session's conversation that is looked at. */
export interface Conversation {
  readonly running?: boolean
  readonly chat?: { readonly timeline?: { readonly turnOrder?: readonly number[] } }
}

/** What every component in a slot of a session is given. */
export interface SessionProps {
  readonly sessionId: string
  readonly useProjection: UseProjection
  readonly useSession: <T>(select: (conversation: Conversation) => T) => T
  readonly t: Translate
}
