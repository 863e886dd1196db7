import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo, Server } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import { jsonLine, runBin } from "../support/run-bin.ts";
import type { Database } from "../../src/shared/store/connection/database.ts";
import { selectAliveWorkers } from "../../src/shared/store/jobs/workers.ts";
import { openDesk, pretendWorker, rowsOf } from "./desk.ts";
import type { Desk } from "./desk.ts";

let desk: Desk;
let host: Server;
let url: string;
/** Nobody listens there: the port was free a moment ago. */
let deaf: string;
beforeAll(async () => {
  desk = await openDesk();
  const other = createServer().listen(0, "127.0.0.1");
  host = createServer().listen(0, "127.0.0.1");
  await Promise.all([once(host, "listening"), once(other, "listening")]);
  url = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
  deaf = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  other.close();
  await once(other, "close");
});
afterAll(async () => {
  host.close();
  await desk.dispose();
});
beforeEach(async () => {
  await desk.database.query("delete from nightdesk_data.workers");
  await desk.database.query("delete from nightdesk_data.batches");
});

/** The desk's configuration, with a model behind a host. */
async function useOllama(): Promise<void> {
  await desk.write(
    "ollama.yaml",
    `extends: nightdesk.yaml\nmodel: { provider: ollama, name: m, base_url: "${url}" }\n`,
  );
}

const ask = async (...args: readonly string[]) => {
  await useOllama();
  return desk.run("ask", "Who?", "--config", `${desk.workroot}/ollama.yaml`, ...args);
};

describe("--ollama-base-url of a command that queues", () => {
  test.each([
    ["localhost:11434", "it does not begin with http:// or https://"],
    ["http://localhost:11434/api", "it has a path"],
    ["http://localhost:99999", "its port is not in 1…65535"],
  ])("that is %s is refused before anything is queued", async (given, reason) => {
    for (const words of [["ask", "Who?"], ["index"], ["batch", "wait", "night"]]) {
      const { code, stderr } = await desk.run(...words, "--ollama-base-url", given);
      expect({ code, stderr }).toEqual({
        code: 78,
        stderr: `nightdesk: CONFIG_ERROR: flag --ollama-base-url: model.base_url is "${given}", and ${reason}; expected http://host:port or https://host:port, like "http://127.0.0.1:11434"\n`,
      });
    }
    expect(await rowsOf(desk.database, "select from nightdesk_data.jobs")).toEqual([]);
  });

  test("where nobody listens is said at once, and the job waits", async () => {
    const { code, stderr } = await ask("--ollama-base-url", deaf);
    expect(code).toBe(0);
    expect(stderr).toContain(
      `${deaf} does not answer (ECONNREFUSED); what is queued waits until it does. Start the host there, or give another --ollama-base-url\n`,
    );
  });

  test("that answers is named in the command that starts the worker", async () => {
    const { stderr } = await ask("--ollama-base-url", url);
    expect(stderr).not.toContain("does not answer");
    expect(stderr).toContain(
      `No worker is alive; the work waits until you start one with: nightdesk worker --ollama-base-url ${url}\n`,
    );
  });

  test("is not what a worker asks that runs with another", async () => {
    await pretendWorker(desk.database, ["http://127.0.0.1:11434"]);
    const { stderr } = await ask("--ollama-base-url", url);
    expect(stderr).toContain(
      `A worker that runs asks http://127.0.0.1:11434, not ${url}: stop it, and start it again with: nightdesk worker --ollama-base-url ${url}\n`,
    );
  });

  test("says nothing where the worker that runs asks the same, or where it was not given", async () => {
    await pretendWorker(desk.database, [url]);
    for (const flags of [["--ollama-base-url", `${url}/`], []]) {
      expect((await ask(...flags)).stderr).toMatch(/^Queued as batch [^\n]*\n$/);
    }
  });

  test("changes nothing for the extractive model, and that is said", async () => {
    const { stderr } = await desk.run("ask", "Who?", "--ollama-base-url", url);
    expect(stderr).toContain(
      "The configured model is extractive and asks no host: --ollama-base-url changes nothing.",
    );
    expect(stderr).toMatch(/start one with: nightdesk worker\n$/);
  });
});

describe("a host of the environment or of the configuration that is not valid", () => {
  const faulty = `is "ftp://x", and it does not begin with http:// or https://`;
  const given = async (content: string) => {
    await desk.write("ollama.yaml", `extends: nightdesk.yaml\n${content}`);
    return ["ask", "Who?", "--config", `${desk.workroot}/ollama.yaml`];
  };

  test.each([
    ["OLLAMA_BASE_URL", "model: { provider: ollama, name: m }\n"],
    ["NIGHTDESK_OLLAMA_BASE_URL", "embed: { provider: ollama, model_id: m }\n"],
  ])("is refused by a command that queues: %s", async (variable, content) => {
    const env = { [variable]: "ftp://x" };
    const ended = await runBin(await given(content), { cwd: desk.workroot, env });
    expect({ code: ended.code, stderr: ended.stderr }).toEqual({
      code: 78,
      stderr: expect.stringContaining(
        `CONFIG_ERROR: environment ${variable}: model.base_url ${faulty}`,
      ),
    });
    const written = content.replace(" }", ', base_url: "ftp://x" }');
    const { code, stderr } = await desk.run(...(await given(written)));
    expect({ code, stderr }).toEqual({
      code: 78,
      stderr: expect.stringContaining(`base_url ${faulty}`),
    });
    expect(await rowsOf(desk.database, "select from nightdesk_data.jobs")).toEqual([]);
  });

  test("is not looked at where no host is asked", async () => {
    const env = { OLLAMA_BASE_URL: "ftp://x" };
    const { code } = await runBin(["ask", "Who?"], { cwd: desk.workroot, env });
    expect(code).toBe(0);
  });
});

test("the worker that a command starts asks the host that the command was given", async () => {
  const double = await startOllamaDouble({ models: [{ name: "m", respond: () => "I am here." }] });
  const topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "m", base_url: deaf },
  });
  const database = await topology.connect();
  try {
    const words = ["chat", "hello", "--wait", "--json", "--ollama-base-url", double.url];
    const ended = await runBin(words, { cwd: topology.workroot });
    expect(jsonLine(ended)).toMatchObject({ ok: true, answer: "I am here." });
    expect(double.chats()).toHaveLength(1);
    await untilWorkersEnd(database);
  } finally {
    await database.end();
    await topology.dispose();
    await double.close();
  }
});

/** The worker goes on when the command has its answer, and writes into the folder until it has ended. */
async function untilWorkersEnd(database: Database): Promise<void> {
  for (const { pid } of await selectAliveWorkers(database)) {
    await eventually("the worker has ended", async () => {
      try {
        return !process.kill(pid, 0);
      } catch {
        return true;
      }
    });
  }
}
