import { tmpdir } from "node:os";
import { beforeAll, describe, expect, test } from "@jest/globals";
import { loadConfig } from "../../src/shared/config/load-config.ts";
import type { PipelineSettings } from "../../src/worker/evidence/types.ts";
import { packageRoot } from "../shared/config/scratch.ts";
import { testOffload } from "../worker/offload/test-offload.ts";
import { playAnswer } from "./play-answer.ts";
import { isHeldOut, readAnswers } from "./read-corpora.ts";
import type { CorpusAnswer } from "./read-corpora.ts";

const items = readAnswers().filter((item) => !isHeldOut(item));
let settings: PipelineSettings;

beforeAll(async () => {
  const flags = { config: `${packageRoot}/configs/default.yaml`, workroot: tmpdir() };
  settings = await loadConfig({ flags, env: {}, cwd: packageRoot, packageRoot });
});

const wronglyJudged = async (
  isChosen: (item: CorpusAnswer) => boolean,
  unsupported: PipelineSettings["ask"]["unsupported"],
): Promise<string[]> => {
  const wrong: string[] = [];
  const chosen = { ...settings, ask: { ...settings.ask, unsupported } };
  for (const item of items.filter(isChosen)) {
    const { isRight } = await playAnswer(item, chosen, testOffload());
    if (!isRight) wrong.push(item.id);
  }
  return wrong;
};

describe("of the answers that are not held out", () => {
  test.each(["forged mark", "guess", "wrong citation", "altered quote"])(
    "no bad one of the kind %s is accepted",
    async (kind) => {
      expect(await wronglyJudged((item) => item.kind === kind, "repair")).toEqual([]);
    },
  );

  test.each(["decline", "paraphrase", "list", "table", "long", "figures", "citation"])(
    "no good one of the kind %s is refused for its form, its quotations or its citations",
    async (kind) => {
      expect(await wronglyJudged((item) => item.kind === kind, "flag")).toEqual([]);
    },
  );
});
