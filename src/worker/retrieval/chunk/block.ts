/** A block of a document: whole lines, numbered from 0, both ends included. */
export type Block = {
  readonly firstLine: number;
  readonly lastLine: number;
  /** Where it may be cut when it is too long for one chunk. */
  readonly cut: "sentences" | "lines";
  readonly heading?: { readonly level: number; readonly title: string };
};
