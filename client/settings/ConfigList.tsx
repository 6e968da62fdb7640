import type { ReactNode } from 'react'
import type { ConfigRow, SourcePart } from '../../src/projections/page.ts'
import type { PartProps } from './Page.tsx'

/** A value as people read it: a delay by its unit, which its key ends with. */
function amountOf(key: string, value: number, { viewer }: PartProps): string {
  const unit = key.endsWith('Ms') ? 1 : key.endsWith('Seconds') ? 1_000 : undefined
  return unit === undefined ? String(value) : viewer.duration(value * unit)
}

const partText = ({ key, value }: SourcePart, props: PartProps): string => key === 'more'
  ? props.t(value === 1 ? 'config.more.one' : 'config.more', { value })
  : `${key} ${typeof value === 'number' ? amountOf(key, value, props) : value}`

function valueText({ key, value }: ConfigRow, props: PartProps): string {
  if (value === null) return props.t('config.none')
  if (typeof value === 'number') return amountOf(key, value, props)
  return typeof value === 'object' ? value.map(part => partText(part, props)).join(', ') : String(value)
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
      {page.stray.length > 0 && <p className="lqr-note">{t('config.stray', { keys: page.stray.join(', ') })}</p>}
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
