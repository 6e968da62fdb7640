import type { ReactNode } from 'react'

function Glyph({ path, name, size }: { readonly path: string; readonly name: string; readonly size: number }): ReactNode {
  return <svg className={name} width={size} height={size} viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.4" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true"><path d={path} /></svg>
}

/** The small arrow of a chip that opens a menu. */
export const Chevron = (): ReactNode => <Glyph name="lqr-chevron" size={12} path="m3.5 6 4.5 4.5L12.5 6" />
/** Asking again: an arrow that comes round. */
export const RetryGlyph = (): ReactNode => <Glyph name="lqr-glyph" size={14} path="M13.2 8a5.2 5.2 0 1 1-1.6-3.7M13.3 2.2v2.9h-2.9" />
/** A pool: one way that parts into two. */
export const PoolGlyph = (): ReactNode => <Glyph name="lqr-glyph" size={14} path="M2 8h3.2c2.6 0 2.4-4 5-4H14M5.2 8c2.6 0 2.4 4 5 4H14M12.2 2.2 14 4l-1.8 1.8M12.2 10.2 14 12l-1.8 1.8" />
/** The mark of the row that holds. */
export const Check = (): ReactNode => <Glyph name="lqr-glyph" size={16} path="m3.2 8.4 3.2 3.2 6.4-7" />
