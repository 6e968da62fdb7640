import { type KeyboardEvent, type ReactNode, type RefObject, useEffect, useLayoutEffect, useRef } from 'react'
import { Check } from '../glyphs.tsx'

/** A row of a menu. */
export interface MenuRow {
  readonly id: string
  readonly label: string
  readonly hint?: string
  /** Whether it is the setting that holds. */
  readonly current?: boolean
  /** Whether it is there to be read alone. */
  readonly disabled?: boolean
}

/** Rows that belong together; a hairline stands between groups. */
export interface MenuGroup {
  readonly title?: string
  readonly rows: readonly MenuRow[]
}

const MARGIN = 12

/** What is seen of the page around a card, in the window's coordinates: every box that clips its content narrows it. */
function seen(card: HTMLElement): { left: number; right: number } {
  let [left, right] = [0, window.innerWidth]
  for (let box = card.parentElement; box !== null; box = box.parentElement) {
    if (getComputedStyle(box).overflowX === 'visible') continue
    const edge = box.getBoundingClientRect()
    left = Math.max(left, edge.left)
    right = Math.min(right, edge.right)
  }
  return { left: left + MARGIN, right: right - MARGIN }
}

/** Shift a card that would stand out of what is seen back into it. Runs before anything is painted. */
export function useInView(ref: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => {
    const card = ref.current
    if (card === null) return
    const fit = (): void => {
      card.style.translate = ''
      const bounds = seen(card)
      card.style.maxWidth = `${Math.min(340, bounds.right - bounds.left)}px`
      const { left, right } = card.getBoundingClientRect()
      const shift = left < bounds.left ? bounds.left - left : Math.min(0, bounds.right - right)
      if (shift !== 0) card.style.translate = `${shift}px`
    }
    fit()
    window.addEventListener('resize', fit)
    return () => { window.removeEventListener('resize', fit) }
  })
}

const rowsOf = (menu: HTMLElement | null): HTMLElement[] => [...menu?.querySelectorAll<HTMLElement>('[role=menuitem]') ?? []]

/** Which row a key goes to; `undefined` for keys that go nowhere. */
function target(rows: readonly HTMLElement[], at: number, key: string): HTMLElement | undefined {
  switch (key) {
    case 'ArrowDown': return rows[(at + 1) % rows.length]
    case 'ArrowUp': return rows[(at - 1 + rows.length) % rows.length]
    case 'Home': return rows[0]
    case 'End': return rows.at(-1)
    default: {
      if (key.length !== 1 || key === ' ') return undefined
      const order = [...rows.slice(at + 1), ...rows.slice(0, at + 1)]
      return order.find(row => row.textContent?.trim().toLowerCase().startsWith(key.toLowerCase()))
    }
  }
}

/** What a menu is made of. */
export interface MenuProps {
  readonly id: string
  readonly title: string
  readonly groups: readonly MenuGroup[]
  /** Stands above the rows, outside of the menu's roles. */
  readonly header?: ReactNode
  /** Where the focus starts: the row that holds (the first where rows do things), or the last of all. */
  readonly start: 'current' | 'last'
  readonly onSelect: (id: string) => void
  /** @param refocus - whether the focus goes back to what opened the menu. */
  readonly onClose: (refocus: boolean) => void
}

/**
 * A menu above its chip. The rows have the role that every menu of the page gives its rows; the one that holds says so
 * with `aria-current`.
 */
export function Menu({ id, title, groups, header, start, onSelect, onClose }: MenuProps): ReactNode {
  const card = useRef<HTMLDivElement>(null)
  useInView(card)
  useEffect(() => {
    const rows = rowsOf(card.current)
    const current = rows.find(row => row.getAttribute('aria-current') === 'true')
    // What can be done comes before what is set.
    const first = groups[0]?.rows[0]?.current === undefined ? rows[0] : current ?? rows[0]
    ;(start === 'last' ? rows.at(-1) : first)?.focus({ preventScroll: start !== 'last' })
    // Only where it opens: a menu that changes while it is open keeps the focus where it is.
  }, [])
  useEffect(() => {
    const outside = (event: PointerEvent): void => {
      const anchor = card.current?.parentElement
      if (event.target instanceof Node && anchor?.contains(event.target) !== true) onClose(false)
    }
    document.addEventListener('pointerdown', outside)
    return () => { document.removeEventListener('pointerdown', outside) }
  }, [onClose])
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' || event.key === 'Tab') {
      if (event.key === 'Escape') event.preventDefault()
      event.stopPropagation()
      onClose(event.key === 'Escape')
      return
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const rows = rowsOf(card.current)
    const next = target(rows, rows.indexOf(document.activeElement as HTMLElement), event.key)
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    next.focus()
  }
  return (
    <div ref={card} className="lqr-card lqr-menu" onKeyDown={onKeyDown}>
      {header}
      <div id={id} role="menu" aria-label={title}>
        {groups.map(({ rows, title: heading }, index) => (
          <div key={rows[0]?.id} role="group" aria-label={heading} className={index > 0 ? 'lqr-group' : undefined}>
            {heading !== undefined && <div className="lqr-menu-title" aria-hidden="true">{heading}</div>}
            {rows.map(row => (
              <button key={row.id} type="button" role="menuitem" tabIndex={-1} className="lqr-row" aria-current={row.current === true ? 'true' : undefined} aria-disabled={row.disabled === true || undefined} onClick={() => { if (row.disabled !== true) onSelect(row.id) }}>
                <span className="lqr-row-text">
                  <span className="lqr-row-label">{row.label}</span>
                  {row.hint !== undefined && <span className="lqr-row-hint">{row.hint}</span>}
                </span>
                {row.current === true && <Check />}
              </button>
            ))}
          </div>
        ))}
      </div>
    </div>
  )
}
