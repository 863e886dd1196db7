import type { Config } from "../../shared/config/schema.ts";
import { openEntailmentModel } from "../embedders/transformers/entailment.ts";
import { openReranker } from "../embedders/transformers/reranker.ts";
import { entailmentSettingsOf, rerankerSettingsOf } from "../settings.ts";
import { fail, ok, wordsOf } from "./check.ts";
import type { Check } from "./check.ts";

/** Loads the configured models that compare statements and that order passages, and tries them. */
export async function checkLocalModels(config: Config): Promise<readonly Check[]> {
  const place = { workroot: config.roots.workroot };
  const entailment = entailmentSettingsOf(config);
  const reranker = rerankerSettingsOf(config);
  const checks: Check[] = [];
  if (entailment !== null) {
    const tried = await tryModel(() => openEntailmentModel(entailment, place));
    checks.push(
      tried.kind === "works"
        ? ok(
            "DOCTOR_ENTAILMENT_OK",
            `Statements are compared with their evidence by ${tried.name}; its digest is ${tried.digest}.`,
          )
        : fail(
            "DOCTOR_ENTAILMENT_INVALID",
            tried.why,
            `Look at verify.entailment in ${config.file}.`,
          ),
    );
  }
  if (reranker !== null) {
    const tried = await tryModel(() => openReranker(reranker, place));
    checks.push(
      tried.kind === "works"
        ? ok(
            "DOCTOR_RERANK_OK",
            `The first ${reranker.candidates} passages of a search are ordered by ${tried.name}; its digest is ${tried.digest}.`,
          )
        : fail("DOCTOR_RERANK_INVALID", tried.why, `Look at retrieve.rerank in ${config.file}.`),
    );
  }
  return checks;
}

type Trial =
  | { readonly kind: "works"; readonly name: string; readonly digest: string }
  | { readonly kind: "broken"; readonly why: string };

async function tryModel(
  open: () => Promise<{
    readonly name: string;
    readonly digest: string;
    readonly close: () => void;
  }>,
): Promise<Trial> {
  try {
    const { name, digest, close } = await open();
    close();
    return { kind: "works", name, digest };
  } catch (error) {
    return { kind: "broken", why: wordsOf(error) };
  }
}
