import type { ReactNode } from 'react'
import type { ConfigRow } from '../../src/projections/page.ts'
import type { PartProps } from './Page.tsx'

function valueText({ value }: ConfigRow, { viewer, t }: PartProps): string {
  if (value === null) return t('config.none')
  if (typeof value === 'number') return viewer.duration(value)
  return String(value)
}

function filesText({ page: { files }, t }: PartProps): string {
  if (files.used === null) return t('config.nofile')
  return files.others.length === 0 ? t('config.file', { file: files.used }) : t('config.files', { file: files.used, others: files.others.join(', ') })
}

/** The configuration in effect, to read. */
export function ConfigList(props: PartProps): ReactNode {
  const { page, t } = props
  return (
    <>
      <p className="lqr-quiet">{filesText(props)}</p>
      <dl className="lqr-box lqr-config">
        {page.config.map(row => (
          <div key={row.key} className="lqr-config-row">
            <dt>{row.key}</dt>
            <dd>{valueText(row, props)}{!row.set && <span className="lqr-faint"> ({t('config.unset')})</span>}</dd>
          </div>
        ))}
      </dl>
    </>
  )
}
