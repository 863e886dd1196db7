/** The steps from the top of the configuration to a value: keys of mappings and indices of lists. */
export type KeyPath = readonly (string | number)[];

/** `index.sources.0.root`; a step that is no plain word is quoted: `model.aliases."llama3.1:8b"`. */
export const dottedKey = (path: KeyPath): string =>
  path
    .map(String)
    .map((step) => (/^[\w-]+$/.test(step) ? step : JSON.stringify(step)))
    .join(".");
