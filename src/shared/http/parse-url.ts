/**
 * The URL of a text; undefined where it is none. In place of URL.canParse, which Node 20 answers with false for any text
 * with a letter like "ü" once its caller has been compiled (after some 7,000 calls).
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
