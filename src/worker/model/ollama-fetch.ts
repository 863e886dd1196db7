import { askHost } from "./host-request.ts";
import { invalidReply, readText } from "./read-reply.ts";
import { parseWire } from "./wire-json.ts";

/**
 * A `fetch` for the npm client's calls that do not stream. It ends with `signal`, which closes the connection,
 * has no time limit of its own, and throws HostError for an answer that is no reply and Failure
 * MODEL_OUTPUT_INVALID for one that is no JSON object, both of which the client would print or reword.
 */
export function ollamaFetch(signal: AbortSignal): typeof fetch {
  return async (input, init = {}) => {
    const url = input instanceof Request ? input.url : String(input);
    const json = typeof init.body === "string" ? init.body : null;
    const text = await readText(await askHost(url, json, signal));
    if (parseWire(text) === null) throw invalidReply("it is not a JSON object");
    return new Response(text, { headers: { "content-type": "application/json" } });
  };
}
