import { half, type Texts } from './catalogue'

export const texts: Texts = half(1)
