import type { ComponentType } from 'react'
import type { Connection, PageContext, SlotEntry, Translate } from '../browser-host.ts'
import { CHANNEL } from '../channel.ts'
import type { Viewer } from '../viewer.ts'
import { Page } from './Page.tsx'
import type { Call } from './use-page.ts'

type Place = <P extends object>(ctx: PageContext, entry: SlotEntry, component: ComponentType<P>) => void

/**
 * The settings page.
 *
 * @param ctx - the plugin's context.
 * @param viewer - writes times.
 * @param t - the texts.
 * @param place - puts a component into a slot.
 */
export function registerPage(ctx: PageContext, viewer: Viewer, t: Translate, place: Place): void {
  ctx.inject(['connection'], (inner) => {
    const { rpc } = inner.get('connection') as Connection
    const call: Call = (endpoint, payload, signal) => rpc.call(CHANNEL, endpoint, payload, signal)
    place(inner, { name: 'settings.section', id: 'quota-routes', order: 16, label: () => t('page.nav'), inject: () => ({ viewer, call }) }, Page)
  })
}
