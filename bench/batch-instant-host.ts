import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A host of Ollama's protocol whose model answers at once, with the same word. */
export async function startInstantHost(): Promise<{
  readonly url: string;
  close(): Promise<void>;
}> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(`${JSON.stringify(replyTo(request.url ?? ""))}\n`);
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((closed) => {
        server.closeAllConnections();
        server.close(() => {
          closed();
        });
      }),
  };
}

const MODEL = { name: "instant:latest", model: "instant:latest", digest: "1".repeat(64) };

function replyTo(url: string): object {
  switch (url) {
    case "/api/version":
      return { version: "0.32.15" };
    case "/api/tags":
    case "/api/ps":
      return { models: [MODEL] };
    case "/api/show":
      return {
        capabilities: ["completion"],
        details: { quantization_level: "Q4_K_M" },
        model_info: { "general.architecture": "x", "x.context_length": 8192 },
      };
    default:
      return {
        model: "instant:latest",
        created_at: "2026-01-01T00:00:00Z",
        message: { role: "assistant", content: "Yes." },
        done: true,
        done_reason: "stop",
        prompt_eval_count: 20,
        eval_count: 2,
      };
  }
}
