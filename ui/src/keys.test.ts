import { describe, expect, it } from 'vitest'
import { keyName } from './keys'

const pressed = (key: string, mods: Partial<Record<'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey', boolean>> = {}) =>
  keyName({ key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, ...mods })

describe('the name of a key', () => {
  it('is what is printed on it, in lower case', () => {
    expect(pressed('w')).toBe('w')
    expect(pressed('W')).toBe('w') // caps lock
    expect(pressed('ArrowLeft')).toBe('ArrowLeft')
  })
  it('has shift where it is not part of the sign', () => {
    expect(pressed('?', { shiftKey: true })).toBe('?')
    expect(pressed('W', { shiftKey: true })).toBe('Shift+w')
    expect(pressed('Tab', { shiftKey: true })).toBe('Shift+Tab')
  })
  it('has the other modifiers, so that they are nobody’s by accident', () => {
    expect(pressed('s', { ctrlKey: true })).toBe('Ctrl+s')
    expect(pressed('s', { metaKey: true })).toBe('Ctrl+s')
    expect(pressed('z', { altKey: true, ctrlKey: true })).toBe('Ctrl+Alt+z')
  })
})
