import { examineConfig, type MoreFindings } from './check.ts';
import { ConfigError, type Problem, settle, toProblem } from './problems/problems.ts';
import type { Deployment } from './rules/deployment.ts';
import { parseYaml } from './yaml-source.ts';

/** Makes a configuration of YAML text. Throws a ConfigError with every problem, by file and line. */
export function readConfig(
  text: string,
  file: string,
  more: MoreFindings = () => [],
): { readonly config: Deployment; readonly warnings: readonly Problem[] } {
  const source = parseYaml(text);
  if (source.kind === 'broken')
    throw new ConfigError(source.problems.map((problem) => ({ ...problem, file })));
  const { config, findings } = examineConfig(source.value, more, source.writtenAt);
  const problems = [...source.findings, ...findings].map((finding) =>
    toProblem(finding, { file, ...source.placeOf(finding.at ?? finding.path) }),
  );
  return settle(config, problems.sort(byPlace));
}

function byPlace(a: Problem, b: Problem): number {
  return (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0);
}
