import { type KeyboardEvent, type ReactNode, useCallback, useEffect, useId, useRef, useState } from 'react'
import { Label } from './Label.tsx'
import { Menu, type MenuGroup, useInView } from '../menu/Menu.tsx'

/** Time that the pointer rests on a chip before its card shows, in ms. */
const HOVER_MS = 350

/** What a chip is made of. */
export interface ChipProps {
  /** Tells the chips apart for styles and tests. */
  readonly kind: 'retry' | 'pool'
  readonly glyph: ReactNode
  /** What the chip says. */
  readonly label: string
  /** The part of it that tells most, for a narrow composer. */
  readonly value: string
  readonly menuTitle: string
  readonly groups: readonly MenuGroup[]
  /** What a hover or the focus shows, and what stands above the rows of the menu; nothing when there is nothing to say. */
  readonly card?: ReactNode
  /** Said to screen readers when it changes. */
  readonly status: string
  /** Told when the menu opens. */
  readonly onOpen?: (() => void) | undefined
  /** Does what a row says; resolves with what went wrong, or `null`. */
  readonly onSelect: (id: string) => Promise<string | null>
}

/** The card of a chip, shown while the pointer or the focus is on it. It takes no click: what stands below it is the person's. */
function HoverCard({ id, children }: { readonly id: string; readonly children: ReactNode }): ReactNode {
  const card = useRef<HTMLDivElement>(null)
  useInView(card)
  return <div ref={card} id={id} role="tooltip" className="lqr-card lqr-hover">{children}</div>
}

/** Shows a card while the pointer rests on a chip or the focus is on it; Escape hides it until they come again. */
function useHover(): { shown: boolean; hide: () => void; handlers: Record<string, (event: never) => void> } {
  const [shown, setShown] = useState(false)
  const timer = useRef<number | undefined>(undefined)
  const hide = useCallback(() => {
    window.clearTimeout(timer.current)
    setShown(false)
  }, [])
  useEffect(() => hide, [hide])
  useEffect(() => {
    if (!shown) return
    const onKey = (event: globalThis.KeyboardEvent): void => { if (event.key === 'Escape') hide() }
    document.addEventListener('keydown', onKey)
    return () => { document.removeEventListener('keydown', onKey) }
  }, [shown, hide])
  const handlers = {
    onPointerEnter: () => {
      window.clearTimeout(timer.current)
      timer.current = window.setTimeout(() => { setShown(true) }, HOVER_MS)
    },
    onPointerLeave: hide,
    onFocus: (event: { target: HTMLElement }) => { if (event.target.matches(':focus-visible')) setShown(true) },
    onBlur: hide,
  }
  return { shown, hide, handlers: handlers as Record<string, (event: never) => void> }
}

/** The label without its value, wherever the language has it. */
const wordsOf = (label: string, value: string): string => label.endsWith(value) ? label.slice(0, label.length - value.length) : ''

/** A chip of the composer with a menu, and with a card that says more. */
export function Chip({ kind, glyph, label, value, menuTitle, groups, card, status, onOpen, onSelect }: ChipProps): ReactNode {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const [open, setOpen] = useState<'current' | 'last' | null>(null)
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const { shown, hide, handlers } = useHover()
  const close = useCallback((refocus: boolean) => {
    setOpen(null)
    if (refocus) button.current?.focus()
  }, [])
  const choose = (row: string): void => {
    close(true)
    hide()
    if (busy) return
    setBusy(true)
    setProblem(null)
    onSelect(row).catch((error: unknown) => String(error)).then((found) => {
      setBusy(false)
      setProblem(found)
    }, () => {})
  }
  const openMenu = (start: 'current' | 'last'): void => {
    hide()
    setProblem(null)
    setOpen(start)
    onOpen?.()
  }
  useEffect(() => {
    if (problem === null) return
    // Whatever the person does next, they have seen it.
    const gone = (): void => { setProblem(null) }
    document.addEventListener('pointerdown', gone)
    return () => { document.removeEventListener('pointerdown', gone) }
  }, [problem])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape') setProblem(null)
    if (open !== null || (event.key !== 'ArrowDown' && event.key !== 'ArrowUp')) return
    event.preventDefault()
    openMenu(event.key === 'ArrowUp' ? 'last' : 'current')
  }
  const tip = card !== undefined && shown && open === null && problem === null
  return (
    <span className="lqr-anchor" data-lqr={kind} {...handlers}>
      <button
        ref={button}
        type="button"
        className="lqr-chip"
        aria-haspopup="menu"
        aria-expanded={open !== null}
        aria-controls={open !== null ? `${id}menu` : undefined}
        aria-describedby={tip ? `${id}tip` : undefined}
        aria-busy={busy}
        onClick={() => { if (open === null) openMenu('current'); else close(true) }}
        onKeyDown={onKeyDown}
      >
        <span className="lqr-sr">{label}</span>
        <Label glyph={glyph} words={wordsOf(label, value)} value={value} />
      </button>
      <span className="lqr-sr" role="status">{status}</span>
      {problem !== null && <div className="lqr-card lqr-hover lqr-problem" role="alert">{problem}</div>}
      {tip && <HoverCard id={`${id}tip`}>{card}</HoverCard>}
      {open !== null && (
        <Menu id={`${id}menu`} title={menuTitle} groups={groups} header={card} start={open} onSelect={choose} onClose={close} />
      )}
    </span>
  )
}
