import { urlKey, urlsIn } from "../../web/url-rules.ts";
import { WEB_FETCH } from "../../tools/web-fetch.ts";
import { urlsFound } from "../../tools/web-search.ts";
import type { RecordedStep } from "./record.ts";

/**
 * Whether somebody else than the model wrote a URL: it stands, as it is, in the task, among the results of a search, or on a
 * page that was fetched. A URL of the model's own could carry what it has read to whoever owns the host. Words of searches
 * and of documents do not count: a page might repeat the words of the model, and a document was not written for this job.
 */
export function isGivenUrl(
  url: string,
  { task, steps }: { readonly task: string; readonly steps: readonly RecordedStep[] },
): boolean {
  const key = urlKey(url);
  if (key === undefined) return false;
  return urlsIn(task).has(key) || steps.some((step) => givesUrl(step, key));
}

function givesUrl({ tool }: RecordedStep, key: string): boolean {
  const output = tool?.output ?? null;
  if (tool === null || output === null) return false;
  if (urlsFound(tool).includes(key)) return true;
  if (tool.name !== WEB_FETCH.name) return false;
  const texts = output.evidence.flatMap((piece) =>
    piece.kind === "file" ? [piece.reading.text] : [],
  );
  return [output.text, ...texts].some((text) => urlsIn(text).has(key));
}
