import { nameOf, stepsOf } from "./completion-tree.ts";
import type { CompletionFlag, CompletionNode } from "./completion-tree.ts";

/** A script for ~/.config/fish/completions/nightdesk.fish. */
export function fishCompletion(nodes: readonly CompletionNode[]): string {
  return `# fish completion of nightdesk
function __nightdesk_command
  set -l command ''
  for word in (commandline -opc)[2..-1]
    switch "$command $word"
${stepsOf(nodes).map(entryOf).join("\n")}
    end
  end
  echo $command
end
function __nightdesk_is
  test (__nightdesk_command) = "$argv[1]"
end
complete -c nightdesk -f
${nodes.flatMap(linesOf).join("\n")}`;
}

const quote = (text: string): string => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;

const entryOf = ({ typed, command }: ReturnType<typeof stepsOf>[number]): string =>
  `      case ${quote(typed)}; set command ${quote(command)}`;

function linesOf(node: CompletionNode): readonly string[] {
  const when = `complete -c nightdesk -n ${quote(`__nightdesk_is "${nameOf(node)}"`)}`;
  return [
    ...node.words.map(({ word, summary }) => `${when} -a ${quote(word)} -d ${quote(summary)}`),
    ...node.flags.map(
      ({ flag, description, value }) =>
        `${when} -l ${quote(flag.slice(2))} -d ${quote(description)}${valueOf(value)}`,
    ),
    ...(node.takesFiles ? [`${when} -F`] : []),
  ];
}

function valueOf(value: CompletionFlag["value"]): string {
  if (value === undefined) return "";
  if (value === "file") return " -r -F";
  return value === "text" ? " -x" : ` -x -a ${quote(value.join(" "))}`;
}
