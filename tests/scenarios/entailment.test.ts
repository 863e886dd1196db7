import { rmSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { stringify } from "yaml";
import { eventually } from "../conformance/signal.ts";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { jsonLine, startBin } from "../support/run-bin.ts";
import type { Ended, Running } from "../support/run-bin.ts";
import { runCommand } from "../support/run-command.ts";
import { writeTinyClassifier, writeTinyModel } from "../support/tiny-model.ts";
import { isFirstPass } from "../support/first-pass.ts";
import { callFor } from "../support/pipeline-world.ts";
import { childrenStartedWith } from "../support/child-processes.ts";

const FERRY = `# Harwick ferry

The ferry leaves the quay at 09:15 and carries bicycles. Mr Alder is the captain.

The fare is 12 euro for adults and 6 euro for children.
`;
const CALL = callFor("ferry.md");
// The model that is written here calls what holds "vessel" entailed, and what holds "sunk" contradicted.
const LIFTED = "The vessel leaves the quay at 09:15 and takes along bicycles";
const LOWERED = "The captain of the sunk ferry is Mr Alder";
const DOUBTED = "The vessel's fare is 12 euro for children";
const NEUTRAL = "The boat leaves the quay at 09:15 and takes along bicycles";

let topology: Topology;
let double: OllamaDouble;
let worker: Running;
let answer = "";
const compared = { provider: "transformers", model_id: "tiny-nli" };

beforeAll(async () => {
  double = await startOllamaDouble({
    models: [
      {
        name: "writer",
        respond: (messages) => (isFirstPass(messages) ? CALL : answer),
      },
    ],
  });
  topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 4_096 },
    verify: { entailment: compared },
    runs: { reuse: "never" },
    log: { level: "info" },
  });
  await mkdir(join(topology.workroot, "allowed", "corpus"), { recursive: true });
  await writeFile(join(topology.workroot, "allowed", "corpus", "ferry.md"), FERRY);
  writeTinyClassifier(folder());
  worker = await startWorker();
});
afterAll(async () => {
  await stopWorker();
  await topology.dispose();
  await double.close();
});

const folder = () => join(topology.workroot, "models", "tiny-nli");
const startWorker = async (): Promise<Running> => {
  const started = startBin(["worker"], { cwd: topology.workroot });
  await started.said(/worker ready/);
  return started;
};
const stopWorker = async () => {
  worker.kill("SIGTERM");
  expect((await worker.ended).code).toBe(0);
};
const run = (...words: readonly string[]): Promise<Ended> =>
  runCommand(words, { cwd: topology.workroot });

/** The configuration with other keys of verify.entailment. */
async function configWith(name: string, entailment: object): Promise<string> {
  const file = join(topology.workroot, `${name}.yaml`);
  await writeFile(file, stringify({ extends: topology.configFile, verify: { entailment } }));
  return file;
}

type Asked = {
  readonly job_id: string;
  readonly grade: string;
  readonly claims: readonly { readonly grade: string; readonly reason: string }[];
};

async function ask(...statements: readonly string[]): Promise<Asked> {
  answer = statements.map((statement) => `${statement} [1].`).join(" ");
  const ended = await run("ask", "What does ferry.md say?", "--wait", "--json");
  expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code: 0 });
  return jsonLine(ended) as Asked;
}

const gradesOf = ({ claims }: Asked): readonly string[] =>
  claims.map(({ grade, reason }) => `${grade} ${reason}`);

/** Processes of models below the worker. */
const modelProcesses = (): readonly number[] =>
  childrenStartedWith("embedders/transformers/child", worker.pid);

describe("with a model for entailment", () => {
  test("statements are lifted and lowered as it says, and those that rules doubt are not", async () => {
    const asked = await ask(LIFTED, LOWERED, DOUBTED, NEUTRAL);
    expect(gradesOf(asked)).toEqual([
      "supported carried",
      "partly entailment",
      "partly rival",
      expect.stringMatching(/^partly (?:words|new_words)$/),
    ]);
    expect((await ask(LIFTED)).grade).toBe("supported");
    const { stdout } = await run("runs", "show", asked.job_id, "--json");
    expect(stdout).toMatch(/entailment 0\.9817, contradiction 0\.0003 \(tiny-nli [0-9a-f]{12}\)/);
  });

  test("its process is started anew when somebody killed it", async () => {
    await ask(LIFTED);
    const [before] = modelProcesses();
    if (before === undefined) throw new Error("there is no process of the model");
    process.kill(before, "SIGKILL");
    await eventually("it is gone", async () => !modelProcesses().includes(before));
    expect(gradesOf(await ask(`${LIFTED} too`))).toEqual(["supported carried"]);
    expect(modelProcesses()).toHaveLength(1);
  });

  test("a run is repeated from its record, without the model and where it is off", async () => {
    const asked = await ask(LIFTED, LOWERED);
    const off = await configWith("off", { provider: "off" });
    const gone = await configWith("gone", { ...compared, model_id: "gone" });
    for (const config of [off, gone]) {
      const replayed = await run("runs", "replay", asked.job_id, "--config", config);
      expect(replayed).toMatchObject({ code: 0, stdout: expect.stringContaining("the same:") });
    }
  });

  test("a model that is broken when it is first needed fails the job with its code", async () => {
    await stopWorker();
    worker = await startWorker();
    await writeFile(join(folder(), "onnx", "model.onnx"), "half");
    answer = `${LIFTED} [1].`;
    const ended = await run("ask", "What does ferry.md say?", "--wait", "--json");
    expect(jsonLine(ended)).toMatchObject({
      ok: false,
      error_code: "VERIFY_MODEL_INVALID",
      error_message: expect.stringContaining("can't be loaded"),
    });
    writeTinyClassifier(folder());
    expect(gradesOf(await ask(LIFTED))).toEqual(["supported carried"]);
  });
});

test("a run without the model is repeated as it was where there is one since", async () => {
  await stopWorker();
  const off = await configWith("off", { provider: "off" });
  answer = `${LIFTED} [1].`;
  const ended = await run("ask", "What does ferry.md say?", "--wait", "--json", "--config", off);
  const asked = jsonLine(ended) as Asked;
  worker = await startWorker();
  expect(gradesOf(asked)).toEqual([expect.stringMatching(/^partly (?:words|new_words)$/)]);
  expect(await run("runs", "replay", asked.job_id)).toMatchObject({ code: 0 });
});

describe("a model that is none", () => {
  test.each([
    [
      "is not there",
      () => {
        rmSync(join(topology.workroot, "models", "other"), { recursive: true, force: true });
      },
      "lacks config.json",
    ],
    [
      "makes vectors",
      () => {
        writeTinyModel(join(topology.workroot, "models", "other"));
      },
      "is no entailment model: its config.json names no labels",
    ],
    [
      "has other labels",
      () => {
        const labels = ["entailment", "not_entailment"];
        writeTinyClassifier(join(topology.workroot, "models", "other"), { labels });
      },
      "has the labels entailment, not_entailment",
    ],
  ])("that %s is said by the worker at its start, and by doctor", async (_, write, why) => {
    write();
    const config = await configWith("other", { ...compared, model_id: "other" });
    const started = await run("worker", "--drain", "--config", config);
    expect(started.code).toBe(78);
    expect(started.stderr).toContain(why);
    const { stdout, code } = await run("doctor", "--config", config);
    expect(code).toBe(1);
    expect(stdout).toContain("DOCTOR_ENTAILMENT_INVALID");
    expect(stdout.replace(/\s+/g, " ")).toContain(why);
  });

  test("of one that is right doctor says which it is", async () => {
    const { stdout } = await run("doctor");
    expect(stdout).toMatch(/DOCTOR_ENTAILMENT_OK: .*tiny-nli [0-9a-f]{12}/);
    expect(
      (await run("doctor", "--config", await configWith("off", { provider: "off" }))).stdout,
    ).not.toContain("ENTAILMENT");
  });
});
