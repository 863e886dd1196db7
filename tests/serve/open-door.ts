import { resolve } from "node:path";
import OpenAI from "openai";
import { openContext } from "../../src/shared/commands/command-context.ts";
import { COMMANDS } from "../../src/shared/commands/table.ts";
import { openServer } from "../../src/serve/serve.ts";
import { deskConfig, openDesk } from "../producer/desk.ts";
import type { Desk } from "../producer/desk.ts";

const packageRoot = resolve(import.meta.dirname, "..", "..");

/** A desk, and the door for programs over it in this process. */
export type TestDoor = Desk & {
  /** Ends in /v1. */
  readonly url: string;
  readonly port: number;
  /** The secret of a new token. */
  readonly token: (name: string, ...words: readonly string[]) => Promise<string>;
  readonly client: (secret: string) => OpenAI;
  readonly ask: (path: string, secret: string | null, init?: RequestInit) => Promise<Response>;
};

/** @param config of the desk, beside what each has */
export async function openTestDoor(config: Readonly<Record<string, unknown>>): Promise<TestDoor> {
  const desk = await openDesk();
  await desk.write("nightdesk.yaml", deskConfig(desk.databaseUrl, config));
  const command = COMMANDS.find(({ name }) => name === "serve");
  if (command === undefined) throw new Error("there is no command serve");
  const context = await openContext({
    command,
    args: [],
    options: { port: 0 },
    env: {},
    cwd: desk.workroot,
    screen: process,
    packageRoot,
    version: "0.0.0-test",
  });
  const door = await openServer(context);
  const url = `${door.url}v1`;
  return {
    ...desk,
    url,
    port: Number(new URL(url).port),
    async token(name, ...words) {
      const made = await desk.run("tokens", "create", name, ...words);
      if (made.code !== 0) throw new Error(made.stderr);
      return made.stdout.trim();
    },
    client: (secret) => new OpenAI({ apiKey: secret, baseURL: url }),
    ask: (path, secret, init = {}) =>
      fetch(`${url}${path}`, {
        ...init,
        headers: {
          ...(secret === null ? {} : { authorization: `Bearer ${secret}` }),
          ...(init.headers as Record<string, string> | undefined),
        },
      }),
    async dispose() {
      await door.close();
      await desk.dispose();
    },
  };
}

/** Lines of a batch file. */
export const jsonl = (lines: readonly object[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");

/** A question or a summary as a line of /v1/nightdesk/jobs. */
export const jobLine = (customId: string, body: object): object => ({
  custom_id: customId,
  method: "POST",
  url: "/v1/nightdesk/jobs",
  body,
});
