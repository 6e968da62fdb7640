import type { ComponentType } from 'react'
import type { PageContext, SlotEntry } from './browser-host.ts'
import { chipActions } from './chips/actions.ts'
import chipStyles from './chips/chips.css'
import { PoolChip } from './chips/PoolChip.tsx'
import { RetryChip } from './chips/RetryChip.tsx'
import { quiet } from './quiet.tsx'
import { registerPage } from './settings/register.ts'
import pageStyles from './settings/page.css'
import { CommandRow } from './transcript/CommandRow.tsx'
import { headerDefinition, moveDefinition, NODE_KINDS, waitDefinition } from './transcript/definition.ts'
import { Line } from './transcript/Line.tsx'
import lineStyles from './transcript/lines.css'
import { en, NAMESPACE, zh } from './texts.ts'
import { viewerOf } from './viewer.ts'

/** What every page has. A service that is missing here would take the page down, so everything else is optional. */
export const inject = ['slots', 'locale']

const COMMANDS = ['quota-retry', 'quota-pool', 'quota-routes']

/** The composer's chips stand left of the model, the switch first: it grows to the left, where it moves nothing. */
const CHIP_ORDER = { retry: 40, pool: 41 }

function addStyles(): () => void {
  const style = document.createElement('style')
  style.dataset['plugin'] = 'dsh-llm-quota-retry'
  // The bundler abbreviates the names of the theme's colours.
  style.textContent = (chipStyles + lineStyles + pageStyles).replaceAll('@(', 'var(--dsw-alias-')
  document.head.append(style)
  return () => { style.remove() }
}

/** Put a component into a slot, wherever the page has that slot; one that fails shows nothing. */
function place<P extends object>(ctx: PageContext, entry: SlotEntry, component: ComponentType<P>): void {
  ctx.slots.inject(entry.name, () => ctx.slots.register({ locale: NAMESPACE, ...entry }, quiet(component) as ComponentType<never>))
}

/**
 * The browser half of the plugin.
 *
 * @param ctx - the plugin's context in the page.
 */
export function apply(ctx: PageContext): void {
  ctx.effect(addStyles, 'llm-quota-retry: styles')
  ctx.effect(() => ctx.locale.register(NAMESPACE, { en, zh }), 'llm-quota-retry: texts')
  const t = ctx.locale.bind(NAMESPACE)
  const viewer = viewerOf(ctx)

  // A chip that could not say anything to the host would only be in the way.
  ctx.inject(['remote', 'remote.commands'], (inner) => {
    const actions = (sessionId: string) => ({ ...chipActions(inner, viewer, () => t('failed.unknown'), sessionId) })
    place(inner, { name: 'conversation.input.right', id: 'quota-retry', order: CHIP_ORDER.retry, inject: actions }, RetryChip)
    place(inner, { name: 'conversation.input.right', id: 'quota-pool', order: CHIP_ORDER.pool, inject: actions }, PoolChip)
  })

  for (const key of COMMANDS) place(ctx, { name: 'conversation.chat.commandview', key, inject: () => ({ viewer }) }, CommandRow)

  ctx.inject(['conversationEvents'], (inner) => {
    const events = inner.get('conversationEvents') as { register(definition: object): () => void }
    for (const definition of [headerDefinition, moveDefinition, waitDefinition]) events.register(definition)
    for (const key of Object.values(NODE_KINDS)) place(inner, { name: 'conversation.chat.node', key, inject: () => ({ viewer }) }, Line)
  })

  registerPage(ctx, viewer, t, place)
}
