import { Component, type ComponentType, type ReactNode } from 'react'

/** Shows nothing in place of a part of ours that fails: whatever goes wrong in it, the page stays whole. */
class Quiet extends Component<{ readonly children: ReactNode }, { readonly failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError(): { failed: boolean } {
    return { failed: true }
  }

  override render(): ReactNode {
    return this.state.failed ? null : this.props.children
  }
}

/**
 * A component that turns into nothing when it fails.
 *
 * @param Inner - the component.
 */
export function quiet<P extends object>(Inner: ComponentType<P>): ComponentType<P> {
  return function Guarded(props: P) {
    return <Quiet><Inner {...props} /></Quiet>
  }
}
