import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import { downloadFile, planDownload } from "../../../../src/worker/embedders/fetch/download.ts";
import { readRemoteModel } from "../../../../src/worker/embedders/fetch/model-hub.ts";
import { filesOf } from "../../../../src/worker/embedders/transformers/model-files.ts";
import { openModelPart } from "../../../../src/worker/embedders/fetch/model-part.ts";
import { eventually } from "../../../conformance/signal.ts";
import { startHubDouble, tagOf } from "../../../doubles/model-hub.ts";
import type { HubDouble, HubFile } from "../../../doubles/model-hub.ts";
import { failureOf } from "../../../support/model-hosts.ts";

const MODEL = "somebody/tiny";
const NAME = "config.json";
const CONTENT = randomBytes(100_000);
const OTHER = randomBytes(100_000);
const HALF = 50_000;

describe("a download that broke off", () => {
  let base: string;
  let hub: HubDouble | undefined;
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), "nightdesk-download-"));
  });
  afterEach(async () => {
    await hub?.close();
    hub = undefined;
    rmSync(base, { recursive: true, force: true });
  });

  const folder = () => ({ base, below: [] });
  const part = () => join(base, `.${NAME}.part`);
  const note = () => `${part()}.json`;
  const whole = () => readFileSync(join(base, NAME));

  /** One call, of a hub that has the file so. */
  async function fetchFrom(file: Partial<HubFile>): Promise<readonly number[]> {
    await hub?.close();
    const others = filesOf("fp32").map((path) => [path, { content: OTHER }] as const);
    const whole: HubFile = { content: CONTENT, large: true, ...file };
    hub = await startHubDouble(MODEL, { ...Object.fromEntries(others), [NAME]: whole });
    const at = { url: hub.url, model: MODEL, revision: "main" };
    const remote = await readRemoteModel(at);
    const plan = await planDownload(remote, MODEL, "fp32", folder());
    const planned = plan.find(({ path }) => path === NAME);
    if (planned === undefined) throw new Error("the hub lists no such file");
    const told: number[] = [planned.keptBytes];
    const { commit } = remote;
    await downloadFile({ hub: at, commit, file: planned, folder: folder() }, (bytes) => {
      told.push(bytes);
    });
    return told;
  }
  /** A call whose connection is cut when so much of the file is stored. */
  async function breakOff(file: Partial<HubFile> = {}, at = HALF): Promise<void> {
    const fetching = failureOf(fetchFrom({ stallsAt: at, ...file }));
    await eventually("so much is stored", async () => {
      return existsSync(part()) && statSync(part()).size === at;
    });
    await hub?.close();
    hub = undefined;
    const failure = await fetching;
    expect(failure.code).toBe("MODEL_UNREACHABLE");
    expect(failure.message).toContain(`${at} of its 100000 bytes are kept beside its place`);
    expect(existsSync(join(base, NAME))).toBe(false);
  }
  const isWholeAndAlone = (): void => {
    expect(whole().equals(CONTENT)).toBe(true);
    expect(readdirSync(base)).toEqual([NAME]);
  };

  test("is gone on with by the next call, from the byte that it had come to", async () => {
    await breakOff();
    expect(readFileSync(part()).equals(CONTENT.subarray(0, HALF))).toBe(true);
    const told = await fetchFrom({});
    expect(told[0]).toBe(HALF);
    expect(Math.min(...told)).toBe(HALF);
    expect(hub?.rests).toEqual([{ name: NAME, from: HALF, ifRange: tagOf(CONTENT) }]);
    isWholeAndAlone();
  });

  test("may break off again", async () => {
    await breakOff();
    await breakOff({}, 70_000);
    await fetchFrom({});
    expect(hub?.rests).toMatchObject([{ from: 70_000 }]);
    isWholeAndAlone();
  });

  test("is begun anew where the host has another file under that name", async () => {
    await breakOff({ content: OTHER });
    const told = await fetchFrom({});
    expect(told[0]).toBe(0);
    expect(hub?.rests).toEqual([]);
    isWholeAndAlone();
  });

  test.each([
    ["ignored", 1],
    ["of another place", 2],
    ["not satisfiable", 2],
  ] as const)("is begun anew where rests are %s", async (ranges, requests) => {
    await breakOff();
    await fetchFrom({ ranges });
    expect(hub?.rests).toHaveLength(1);
    expect(hub?.asked.filter((url) => url.startsWith("/elsewhere/"))).toHaveLength(requests);
    isWholeAndAlone();
  });

  test("is begun anew where the host sends another content than it had begun with", async () => {
    await breakOff({ sent: OTHER });
    await fetchFrom({});
    expect(hub?.rests).toMatchObject([{ ifRange: tagOf(OTHER) }]);
    isWholeAndAlone();
  });

  test("is begun anew in the same call where its hash shows that it was of another content", async () => {
    await breakOff({ sent: OTHER });
    await fetchFrom({ ranges: "whatever its tag" });
    expect(hub?.rests).toHaveLength(1);
    expect(hub?.asked.filter((url) => url.startsWith("/elsewhere/"))).toHaveLength(2);
    isWholeAndAlone();
  });

  test("leaves nothing when the host sends another content again", async () => {
    await breakOff();
    const failure = await failureOf(fetchFrom({ sent: OTHER, ranges: "whatever its tag" }));
    expect(failure.code).toBe("MODEL_OUTPUT_INVALID");
    expect(readdirSync(base)).toEqual([]);
  });

  test("by a connection that closed where nothing else tells the end is one, too", async () => {
    const cut: Partial<HubFile> = { length: "closing", sent: CONTENT.subarray(0, HALF) };
    const failure = await failureOf(fetchFrom(cut));
    expect(failure.message).toContain(`${HALF} of its 100000 bytes are kept`);
    await fetchFrom({});
    isWholeAndAlone();
  });

  test.each<[string, () => void]>([
    [
      "whose note is not there",
      () => {
        rmSync(note());
      },
    ],
    [
      "whose note is none",
      () => {
        writeFileSync(note(), "{");
      },
    ],
    [
      "whose note is of another size",
      () => {
        changeNote({ bytes: 99_999 });
      },
    ],
    [
      "whose note is of another hash",
      () => {
        changeNote({ hash: { kind: "sha256", hex: "0" } });
      },
    ],
    [
      "that is longer than the file",
      () => {
        writeFileSync(part(), Buffer.alloc(100_001));
      },
    ],
  ])("is begun anew with a part %s", async (_, change) => {
    await breakOff();
    change();
    const told = await fetchFrom({});
    expect(told[0]).toBe(0);
    expect(hub?.rests).toEqual([]);
    isWholeAndAlone();
  });
  const changeNote = (change: object): void => {
    const before = JSON.parse(readFileSync(note(), "utf8")) as object;
    writeFileSync(note(), JSON.stringify({ ...before, ...change }));
  };

  test("that had come to its end is put in its place without a request", async () => {
    await breakOff();
    writeFileSync(part(), CONTENT);
    await fetchFrom({});
    expect(hub?.asked).toHaveLength(1);
    isWholeAndAlone();
  });

  test("is not gone on with through a link that stands in its place", async () => {
    const outside = join(base, "outside");
    await breakOff();
    writeFileSync(outside, CONTENT.subarray(0, HALF));
    rmSync(part());
    symlinkSync(outside, part());
    await fetchFrom({});
    expect(readFileSync(outside)).toHaveLength(HALF);
    expect(whole().equals(CONTENT)).toBe(true);
  });

  test("is left to the process that goes on with it", async () => {
    await breakOff();
    const hash = JSON.parse(readFileSync(note(), "utf8")) as {
      hash: { kind: "sha256"; hex: string };
    };
    const other = await openModelPart(folder(), { path: NAME, bytes: 100_000, ...hash });
    const failure = await failureOf(fetchFrom({}));
    expect(failure.code).toBe("INPUT_INVALID");
    expect(failure.message).toContain("Another process downloads");
    await other.keep();
    await fetchFrom({});
    expect(hub?.rests).toMatchObject([{ from: HALF }]);
    isWholeAndAlone();
  });
});
