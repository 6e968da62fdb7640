/** The host's JSON storage with faults that a test switches on and off. */
import type { Context } from '@deepseek-ai/cordis'
import Storage, { type KvUnitDescriptor, storageBackendServiceKey } from '@deepseek-ai/dsh-storage'
import * as StorageDomain from '@deepseek-ai/dsh-storage-domain'
import { JsonStorageBackend } from '@deepseek-ai/dsh-storage-json'

/** What is wrong with the medium. */
export interface Faults {
  /** Runs before a unit is opened; throws what the medium would. */
  open?: ((name: string) => Promise<void> | void) | undefined
  /** Runs before a record is written. */
  put?: ((name: string, key: string) => Promise<void> | void) | undefined
}

/**
 * An error as the file system throws it.
 *
 * @param code - for instance `ENOSPC`.
 */
export const systemError = (code: string): Error => Object.assign(new Error(`${code}: /a/path/that/nobody/should/read`), { code })

const backendPlugin = (root: string, faults: Faults) => ({
  name: 'storage-json',
  inject: ['storage'],
  apply(ctx: any): void {
    const backend = new JsonStorageBackend(root)
    const kv = {
      async open(descriptor: KvUnitDescriptor) {
        await faults.open?.(descriptor.name)
        const unit = await backend.kv.open(descriptor)
        return {
          loadAll: () => unit.loadAll(),
          putRecord: async (table: string, key: string, value: unknown) => {
            await faults.put?.(descriptor.name, key)
            await unit.putRecord(table, key, value)
          },
          deleteRecord: (table: string, key: string) => unit.deleteRecord(table, key),
          setGlobal: (value: unknown) => unit.setGlobal(value),
          close: () => unit.close(),
        }
      },
    }
    ctx.effect(() => {
      const unregister = ctx.storage.backend.register('json', { kv, close: () => backend.close() })
      return async () => {
        unregister()
        await backend.close()
      }
    })
    ctx.provide(storageBackendServiceKey('json'), backend)
  },
})

/**
 * Mount storage whose medium may fail.
 *
 * @param ctx - the host.
 * @param root - directory of the files.
 * @param faults - looked at with every access.
 * @returns what takes the storage away again.
 */
export async function mountFaultyStorage(ctx: Context, root: string, faults: Faults): Promise<() => Promise<void>> {
  const host = ctx as any
  if (host.get('storage') === undefined) await host.plugin(Storage)
  const backend = host.plugin(backendPlugin(root, faults))
  await backend
  const domain = host.plugin(StorageDomain, { backend: 'json' })
  await domain
  return async () => {
    await domain.dispose()
    await backend.dispose()
  }
}
