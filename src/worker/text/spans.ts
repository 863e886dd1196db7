/** A slice of a text, in UTF-16 units. */
export type TextSpan = { readonly start: number; readonly end: number };
