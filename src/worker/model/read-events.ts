import type { IncomingMessage } from "node:http";
import { readLines } from "./read-reply.ts";
import type { ReplyLimits } from "./read-reply.ts";

/** An event of a stream of server-sent events. */
export type ServerEvent = { readonly kind: "data" | "error"; readonly data: string };

/**
 * The events of a stream as they come, bounded as readLines bounds it. Comments and fields of no interest are
 * left out. A line that begins an object is an event of its own: a host that does not stream, or fails before it
 * does, answers with JSON under status 200. llama.cpp writes the data of an error into a field of that name.
 */
export async function* readEvents(
  response: IncomingMessage,
  limits: Pick<ReplyLimits, "bytes">,
): AsyncGenerator<ServerEvent> {
  let kind: ServerEvent["kind"] = "data";
  let data: string[] = [];
  for await (const line of readLines(response, limits)) {
    if (line === "") {
      if (data.length > 0) yield { kind, data: data.join("\n") };
      kind = "data";
      data = [];
    } else if (line.startsWith("{")) {
      yield { kind: "data", data: line };
    } else {
      const { field, value } = split(line);
      if (field === "data" || field === "error") data.push(value);
      if (field === "event" && value === "error") kind = "error";
    }
  }
  if (data.length > 0) yield { kind, data: data.join("\n") };
}

function split(line: string): { field: string; value: string } {
  const colon = line.indexOf(":");
  if (colon === -1) return { field: line, value: "" };
  const start = line.startsWith(" ", colon + 1) ? colon + 2 : colon + 1;
  return { field: line.slice(0, colon), value: line.slice(start) };
}
