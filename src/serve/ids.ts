const HEX_ID = "[0-9a-f]{32}";

/** The id of a row after a prefix; undefined for anything else. */
export const rowId = (prefix: string, given: string): string | undefined =>
  new RegExp(`^${prefix}(${HEX_ID})$`).exec(given)?.[1];

export const FILE = "file-";
export const BATCH = "batch_";
/** The results of a batch as a file, which is written from rows on each request. */
export const OUTPUT_FILE = "file-out-";
export const ERROR_FILE = "file-err-";
