import { confirmHostsOf, nameAt } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { routeChat } from "../../shared/job/route-models.ts";
import { callModel, callParts } from "../answer/call-model.ts";
import { promptOf } from "../answer/prompt.ts";
import { accessByHost } from "../models/host-access.ts";
import { hostOpener } from "../models/create-model.ts";
import type { Model } from "../models/model.ts";
import type { Witness } from "../ocr/confirm-figures.ts";
import type { JobCall, OpenedRun } from "./open-run.ts";

type Confirm = NonNullable<NonNullable<Config["index"]["ocr"]>["confirm"]>;
type Run = Pick<JobCall<unknown>, "trace" | "signal"> & Pick<OpenedRun, "context" | "pipeline">;

/**
 * The model of index.ocr.confirm, for the figures of a file.
 * @throws Failure CONFIG_ERROR for one whose host says that it does not see; what the opening of a model throws
 */
export async function openWitness(confirm: Confirm, run: Run): Promise<Witness> {
  const { trace, signal } = run;
  const deps = await run.pipeline();
  const model = await openModel(confirm, run);
  const routed = routeChat(deps.settings.model, model.name);
  const choice = { ...routed, why: "index.ocr.confirm", maxTokens: MOST_TOKENS };
  return {
    name: model.name,
    async read(png) {
      const images = [`data:image/png;base64,${png}`];
      const prompt = promptOf("ocr-confirm/1", [{ role: "user", content: QUESTION, images }]);
      const reply = await callModel(
        {
          ...{ pass: "chat", model, choice, prompt, task: { purpose: "chat" } },
          overrides: { temperature: 0 },
        },
        callParts(deps, { trace, signal }),
      );
      return reply.kind === "refused" ? null : reply.text;
    },
  };
}

const MOST_TOKENS = 200;

const QUESTION =
  "The picture is cut out of a printed page. Write the number in its middle as it stands there, with its letters, points, commas and signs. Write nothing else.";

async function openModel(
  { host, model: name }: Confirm,
  { context: { config, invocation }, signal }: Run,
): Promise<Model> {
  const [place] = confirmHostsOf(config);
  if (place === undefined) throw new Error(`${host} is not listed`);
  const open = hostOpener(place, config, accessByHost(config, invocation.env), null);
  const model = await open(nameAt(place, name) ?? name, signal);
  if (model.profile?.readsPictures === false) {
    throw new Failure(
      "CONFIG_ERROR",
      `"${name}" at ${host} reads no pictures: name a model that does in index.ocr.confirm.`,
    );
  }
  return { ...model, name, host: place.host };
}
