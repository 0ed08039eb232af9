import { runCli } from '../../cli/program.ts';
import type { CliEnvironment } from '../../cli/shared/cli-environment.ts';
import { handIn } from '../secrets/output.ts';
import { START } from './lab.ts';

export type Answer = { readonly code: number; readonly out: string; readonly err: string };

/** Runs one command line without environment, at the start of the lab's time. */
export const run = (...args: readonly string[]): Promise<Answer> => runIn({}, ...args);

/** Runs one command line with this environment. */
export async function runIn(
  cliEnvironment: Partial<Omit<CliEnvironment, 'out' | 'err'>>,
  ...args: readonly string[]
): Promise<Answer> {
  let [out, err] = ['', ''];
  const code = await runCli(args, {
    environment: {},
    now: () => START,
    ...cliEnvironment,
    out: (text) => {
      out += text;
    },
    err: (text) => {
      err += text;
    },
  });
  handIn({ where: `autoscaler ${args[0] ?? ''}`, text: out + err });
  return { code, out, err };
}
