import type { ChildProcess } from "node:child_process";
import { Client, ReadBuffer, serializeMessage } from "@modelcontextprotocol/client";
import type { CallToolResult, Transport } from "@modelcontextprotocol/client";

export type ToolSession = {
  /** @throws the error of the MCP client, at once if the child ends */
  call(tool: string, args: Readonly<Record<string, unknown>>, ms: number): Promise<CallToolResult>;
  hasEnded(): boolean;
};

const MOST_BYTES = 8_000_000;

/** Opens an MCP session with a child process over its stdin and stdout. */
export async function openSession(child: ChildProcess, timeoutMs: number): Promise<ToolSession> {
  // The server is our own program, so its results need no schema validation.
  const client = new Client({ name: "nightdesk dashboard", version: "1" }, { capabilities: {} });
  let isEnded = false;
  client.onclose = () => {
    isEnded = true;
  };
  client.onerror = () => undefined;
  await client.connect(transportOf(child), { timeout: timeoutMs });
  return {
    call: (name, args, timeout) =>
      client.callTool({ name, arguments: { ...args } }, { timeout, maxTotalTimeout: timeout }),
    hasEnded: () => isEnded,
  };
}

function transportOf(child: ChildProcess): Transport {
  const buffer = new ReadBuffer({ maxBufferSize: MOST_BYTES });
  const transport: Transport = {
    async start() {
      const onEnd = () => transport.onclose?.();
      child.once("error", onEnd).once("close", onEnd);
      child.stdin?.on("error", () => undefined);
      child.stderr?.resume();
      child.stdout?.on("data", (chunk: Buffer) => {
        try {
          buffer.append(chunk);
          let message = buffer.readMessage();
          for (; message !== null; message = buffer.readMessage()) transport.onmessage?.(message);
        } catch {
          // A stream with a broken message can't be resynchronised.
          child.kill("SIGKILL");
        }
      });
    },
    async send(message) {
      child.stdin?.write(serializeMessage(message));
    },
    async close() {
      child.kill("SIGKILL");
    },
  };
  return transport;
}
