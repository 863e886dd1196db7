import type { Config } from "../../../shared/config/schema.ts";
import { refuse } from "../../../shared/failure.ts";
import type { Refusal } from "../../../shared/failure.ts";
import type { InvestigateInput } from "../../../shared/job/job.ts";
import { hashJson } from "../../../shared/schema/json-value.ts";
import type { Grant, NewGrant } from "../../../shared/store/investigations/grants.ts";
import { DEFAULT_PRESET, selectPreset } from "../../../shared/config/tool-presets.ts";
import { READ_TEXT_FILE } from "../../tools/read-text-file.ts";
import type { StepLog } from "./step-log.ts";

export type ToolSettings = Pick<
  Config["tools"],
  "presets" | "limits" | "drift" | "unattended" | "shell" | "approval_hours"
>;

/** The stored grant of the job, even if the configuration has changed since; otherwise a new one. Refusals: INVALID_ARGS. */
export async function openGrant(
  input: InvestigateInput,
  {
    log,
    tools,
  }: { readonly log: Pick<StepLog, "findGrant" | "openGrant">; readonly tools: ToolSettings },
): Promise<Grant | Refusal> {
  const existing = await log.findGrant();
  if (existing !== undefined) return existing;
  const grant = grantFor(input, tools);
  return "kind" in grant ? grant : log.openGrant(grant);
}

function grantFor(
  input: InvestigateInput,
  { presets, limits, drift }: ToolSettings,
): NewGrant | Refusal {
  const required = [
    ...(input.required_tools ?? []),
    ...(input.path === undefined ? [] : [READ_TEXT_FILE.name]),
  ];
  const preset = selectPreset(presets, input.preset ?? DEFAULT_PRESET, required);
  if (typeof preset === "string") return refuse("INVALID_ARGS", preset);
  const least = (one: number, other: number | undefined): number => Math.min(one, other ?? one);
  const prefix = input.options?.path_prefix;
  return {
    preset: preset.name,
    presetSha256: hashJson(preset),
    tools: preset.tools,
    roots: prefix === undefined ? [] : [prefix],
    limits: {
      maxSteps: least(limits.steps, input.limits?.steps),
      maxCalls: least(limits.calls, input.limits?.calls),
      maxTokens: least(limits.tokens, input.limits?.tokens),
      maxSeconds: least(limits.time_s, input.limits?.time_s),
      drift: {
        notesEvery: drift.notes_every,
        sameQuery: drift.same_query,
        samePlace: drift.same_place,
        sources: drift.sources,
        failures: drift.failures,
        noNewEvidence: drift.no_new_evidence,
      },
    },
  };
}
