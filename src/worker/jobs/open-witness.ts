import { confirmHostsOf, modelNameAt } from "../../shared/config/hosts.ts";
import type { Config } from "../../shared/config/schema.ts";
import { Failure } from "../../shared/failure.ts";
import { routeChat } from "../../shared/job/route-models.ts";
import { callModel, callParts } from "../answer/call-model.ts";
import { promptOf } from "../answer/prompt.ts";
import type { Prompt } from "../answer/prompt.ts";
import { accessByHost } from "../models/host-access.ts";
import { hostOpener } from "../models/create-model.ts";
import { ReplyUnreadable } from "../models/model.ts";
import type { Model } from "../models/model.ts";
import type { Witness } from "../ocr/confirm-figures.ts";
import type { JobCall, OpenedRun } from "./open-run.ts";

type Confirm = NonNullable<NonNullable<Config["index"]["ocr"]>["confirm"]>;
type Run = Pick<JobCall<unknown>, "trace" | "signal"> & Pick<OpenedRun, "context" | "pipeline">;

/**
 * The model of index.ocr.confirm, which reads the figures of a file a second time.
 * @throws Failure CONFIG_ERROR if the profile or a reply shows that it reads no pictures; and the errors of opening a model
 */
export async function openWitness(confirm: Confirm, run: Run): Promise<Witness> {
  const { trace, signal } = run;
  const deps = await run.pipeline();
  const model = await openModel(confirm, run);
  const routed = routeChat(deps.settings.model, model.name);
  const choice = { ...routed, why: "index.ocr.confirm", maxTokens: MOST_TOKENS };
  const parts = callParts(deps, { trace, signal });
  return {
    name: model.name,
    async read(png) {
      const task = { purpose: "chat" } as const;
      const call = { pass: "chat", model, choice, prompt: promptWith(png), task } as const;
      const reply = await callModel({ ...call, overrides: { temperature: 0 } }, parts).catch(
        ignoreUnreadable,
      );
      if (reply?.kind === "refused" && reply.code === "MODEL_UNSUPPORTED")
        throw readsNoPictures(confirm);
      // A reply that was cut off may lack the last digits.
      return reply?.kind === "reply" && reply.doneReason === "stop" ? reply.text : null;
    },
  };
}

function ignoreUnreadable(error: unknown): undefined {
  if (!(error instanceof ReplyUnreadable)) throw error;
}

const readsNoPictures = ({ host, model }: Confirm): Failure =>
  new Failure(
    "CONFIG_ERROR",
    `"${model}" at ${host} reads no pictures: name a model that does in index.ocr.confirm.`,
  );

const MOST_TOKENS = 200;

const QUESTION =
  "The picture is cut out of a printed page. Write the number in its middle as it stands there, with its letters, points, commas and signs. Write nothing else.";

const promptWith = (png: string): Prompt =>
  promptOf("ocr-confirm/1", [
    { role: "user", content: QUESTION, images: [`data:image/png;base64,${png}`] },
  ]);

async function openModel(
  confirm: Confirm,
  { context: { config, invocation }, signal }: Run,
): Promise<Model> {
  const { host, model: name } = confirm;
  const [place] = confirmHostsOf(config);
  if (place === undefined) throw new Error(`${host} is not listed`);
  const open = hostOpener(place, config, accessByHost(config, invocation.env), null);
  const model = await open(modelNameAt(place, name) ?? name, signal);
  if (model.profile?.readsPictures === false) throw readsNoPictures(confirm);
  return { ...model, name, host: place.host };
}
