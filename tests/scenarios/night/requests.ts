import type { RequestRecord } from "../../doubles/http-double.ts";
import type { Stage } from "./fixture.ts";
import { EXTRA } from "./night-jobs.ts";

type Batch = "night" | "extra";

/** Requests that got their whole reply. */
export const answeredFor = (stage: Stage, batch: Batch): readonly RequestRecord[] =>
  requestsOf(stage, batch).filter(
    (request) => request.state === "done" && stage.model.met(request) === "reply",
  );

/** Requests whose reply broke off: who asked went away, or the host did. */
export const cutFor = (stage: Stage, batch: Batch): readonly RequestRecord[] =>
  requestsOf(stage, batch).filter(
    (request) => request.state === "aborted" || stage.model.met(request) === "dies",
  );

/** Requests that the model broke down over. */
export const brokenRequests = (stage: Stage): readonly RequestRecord[] =>
  stage.host.chats().filter((request) => stage.model.met(request) === "poisoned");

const requestsOf = (stage: Stage, batch: Batch): readonly RequestRecord[] =>
  stage.host
    .chats()
    .filter((request) => !isTrial(request))
    .filter((request) => wordsOf(request).includes(EXTRA) === (batch === "extra"));

/** By which a host that failed shows that it answers again: one token, for no job and from no budget. */
const isTrial = (request: RequestRecord): boolean =>
  wordsOf(request).includes('"num_predict":1}') &&
  wordsOf(request).includes('"messages":[{"role":"user","content":"Hi"}]');

/** All that a request asks, as one text. */
export const wordsOf = ({ body }: RequestRecord): string => JSON.stringify(body);

/** What was asked more than once. */
export function repeated(requests: readonly RequestRecord[]): readonly string[] {
  const words = requests.map(wordsOf);
  return words.filter((word, place) => words.indexOf(word) !== place);
}
