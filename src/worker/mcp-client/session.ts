import { hash } from "node:crypto";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { CallToolResult } from "@modelcontextprotocol/client";
import { cleanText, countCodePoints, firstCodePoints } from "../text/clean-text.ts";
import type { McpAnswer } from "./definition.ts";
import { programTransport } from "./program-transport.ts";
import type { Program } from "./program-transport.ts";

/** Where a server is, with the token for it. */
export type McpPlace =
  | { readonly kind: "program"; readonly program: Program }
  | { readonly kind: "url"; readonly url: URL; readonly token: string | null };

/** A tool as its server describes it, unchecked. */
export type DescribedTool = {
  readonly name: string;
  readonly description?: string | undefined;
  readonly inputSchema: Readonly<Record<string, unknown>>;
};

/** A connection to a server. It throws errors of the client package, whose messages may hold the server's words. */
export type McpSession = {
  list(timeoutMs: number): Promise<readonly DescribedTool[]>;
  call(tool: string, args: Readonly<Record<string, unknown>>, limits: Limits): Promise<McpAnswer>;
  /** Why it can't be used any more, as a clause; null while it is open. */
  ended(): string | null;
  close(): Promise<void>;
  /** Kills the program at once, because this process is about to end. */
  kill(): void;
};

type Limits = { readonly timeoutMs: number; readonly signal: AbortSignal };

const MOST_PAGES = 10;
const MOST_BODY_BYTES = 4_000_000;
/** A prompt shows less; the model may page through the rest. */
const MOST_TEXT_CHARS = 100_000;

/** Results are data: they are not checked against the server's schema, and its patterns are never run. */
const ANY_RESULT = {
  getValidator: () => (input: unknown) => ({
    valid: true as const,
    data: input as never,
    errorMessage: undefined,
  }),
};

/** Opens a connection. It offers the server no capability: no files, no model, no questions to a person. @throws what the package throws */
export async function openSession(
  place: McpPlace,
  { version, timeoutMs }: { readonly version: string; readonly timeoutMs: number },
): Promise<McpSession> {
  const client = new Client(
    { name: "nightdesk", version },
    { capabilities: {}, jsonSchemaValidator: ANY_RESULT, listMaxPages: MOST_PAGES },
  );
  const program = place.kind === "program" ? programTransport(place.program) : null;
  const transport = program ?? httpTransport(place);
  let closed: string | null = null;
  client.onclose = () => {
    closed ??= program?.ended() ?? "its connection was closed";
  };
  client.onerror = () => undefined;
  try {
    await client.connect(transport, { timeout: timeoutMs });
  } catch (error) {
    program?.kill();
    await client.close().catch(() => undefined);
    const why = program?.ended() ?? null;
    throw why === null ? error : new Error(why, { cause: error });
  }
  return {
    ended: () => closed ?? program?.ended() ?? null,
    list: async (timeout) => (await client.listTools(undefined, { timeout })).tools,
    async call(name, args, { timeoutMs: timeout, signal }) {
      const options = { timeout, maxTotalTimeout: timeout, signal };
      return answerOf(await client.callTool({ name, arguments: { ...args } }, options));
    },
    close: () => client.close(),
    kill() {
      program?.kill();
    },
  };
}

function httpTransport(place: McpPlace): StreamableHTTPClientTransport {
  if (place.kind !== "url") throw new TypeError("a program has a transport of its own");
  const { url, token } = place;
  return new StreamableHTTPClientTransport(url, {
    requestInit: {
      redirect: "error",
      headers: token === null ? {} : { authorization: `Bearer ${token}` },
    },
    fetch: boundedFetch,
    reconnectionOptions: {
      maxRetries: 0,
      initialReconnectionDelay: 1_000,
      maxReconnectionDelay: 1_000,
      reconnectionDelayGrowFactor: 1,
    },
  });
}

/** Limits the size of responses, and follows no redirect, because its target is not checked. */
async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const answer = await fetch(url, { ...init, redirect: "error" });
  if (answer.body === null) return answer;
  let bytes = 0;
  const bounded = answer.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        bytes += chunk.byteLength;
        if (bytes > MOST_BODY_BYTES) {
          controller.error(new Error(`the answer has more than ${MOST_BODY_BYTES} bytes`));
        } else controller.enqueue(chunk);
      },
    }),
  );
  const { status, statusText, headers } = answer;
  return new Response(bounded, { status, statusText, headers });
}

function answerOf({ content, structuredContent, isError }: CallToolResult): McpAnswer {
  const blocks = content.map(textOfBlock);
  // A result in both forms has the same content in its text.
  const texts =
    content.length === 0 && structuredContent !== undefined
      ? [JSON.stringify(structuredContent)]
      : blocks;
  const whole = cleanText(texts.join("\n"));
  return {
    kind: "answer",
    text: firstCodePoints(whole, MOST_TEXT_CHARS),
    chars: countCodePoints(whole),
    sha256: hash("sha256", whole),
    isError: isError === true,
  };
}

/** The text of a block; for other content a short note. */
function textOfBlock(block: CallToolResult["content"][number]): string {
  switch (block.type) {
    case "text":
      return block.text;
    case "resource":
      return "text" in block.resource
        ? `${block.resource.uri}:\n${block.resource.text}`
        : `(a resource that is no text: ${block.resource.uri})`;
    case "resource_link":
      return `(a link to ${block.uri})`;
    case "image":
    case "audio":
      return `(${block.type}, ${block.mimeType}, not shown)`;
  }
}
