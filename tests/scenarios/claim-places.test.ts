import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { startTopology } from "../conformance/topologies.ts";
import type { Topology } from "../conformance/topologies.ts";
import { startOllamaDouble } from "../doubles/ollama-server.ts";
import type { OllamaDouble } from "../doubles/ollama-server.ts";
import { writePdf } from "../support/format-writers.ts";
import { runBin, startBin } from "../support/run-bin.ts";
import type { Running } from "../support/run-bin.ts";
import { isFirstPass } from "../support/first-pass.ts";
import { callFor } from "../support/pipeline-world.ts";

const LONG_MS = 240_000;
const PLAN = "allowed/corpus/plan.pdf";
const TIMES = "allowed/corpus/times.csv";
const LEADER = "The evacuation leader is the shift engineer.";
const ROPE = "Each cabin carries a rope of 40 metres.";
const ANSWER = [
  `${ROPE} [1]`,
  "Rescuers reach tower 9 on foot within 35 minutes. [1] [2]",
  `${LEADER} [1] [2]`,
].join(" ");
const READ = callFor(PLAN);

let topology: Topology;
let double: OllamaDouble;
let worker: Running;

beforeAll(async () => {
  double = await startOllamaDouble({
    models: [
      {
        name: "writer",
        respond: (messages) => (isFirstPass(messages) ? READ : ANSWER),
      },
    ],
  });
  topology = await startTopology("embedded", {
    model: { provider: "ollama", name: "writer", base_url: double.url, num_ctx: 8_192 },
    ask: { answer_form: "text" },
    log: { level: "info" },
  });
  const pages = [
    ["Evacuation plan", "", ROPE],
    ["Roles", "", LEADER, "Rescuers reach tower 9 on foot within 35 minutes."],
  ];
  await writeFile(
    join(topology.workroot, PLAN),
    writePdf(
      pages.map((lines) => lines.map((line, at) => [50, 780 - at * 13, line] as const)),
      "Evacuation plan",
    ),
  );
  await writeFile(
    join(topology.workroot, TIMES),
    "Tower,Who,Within\n7,Rescuers on foot,20 minutes\n9,Rescuers on foot,35 minutes\n",
  );
  worker = startBin(["worker"], { cwd: topology.workroot });
  await worker.said(/worker ready/, LONG_MS);
}, LONG_MS);
afterAll(async () => {
  worker.kill("SIGTERM");
  expect((await worker.ended).code).toBe(0);
  await topology.dispose();
  await double.close();
});

const nightdesk = (...words: readonly string[]) => runBin(words, { cwd: topology.workroot });

test(
  "each statement about files that were read whole names the page and the row of all that it cites",
  async () => {
    const question = `What do ${PLAN} and ${TIMES} say about ropes, rescuers and the leader?`;
    const asked = await nightdesk("ask", question, "--wait");
    expect(asked).toMatchObject({ code: 0, stdout: expect.stringContaining("[1]") });
    expect(asked.stdout).toMatch(/^\[1\] allowed\/corpus\/plan\.pdf .*, page 1; page 2$/m);
    expect(asked.stdout).toMatch(/^\[2\] allowed\/corpus\/times\.csv .*, row 3$/m);
    const rows = await nightdesk(
      ...["sql", "--json"],
      "select path, locator, other_places from claims where stands order by ordinal",
    );
    const whole = { path: PLAN, locator: { page: 2 } };
    expect(JSON.parse(rows.stdout)).toEqual([
      { path: PLAN, locator: { page: 1 }, other_places: [] },
      {
        ...whole,
        other_places: [expect.objectContaining({ number: 2, path: TIMES, locator: { row: 3 } })],
      },
      // Nothing of the leader stands in the table.
      { ...whole, other_places: [] },
    ]);
  },
  LONG_MS,
);
