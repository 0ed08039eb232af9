/** What `autoscaler setup` prints. Lines that are no commands may be wrapped. */
import { wrapLines } from '../shared/plain-table.ts';
import { handOver, type Outcome, type Result } from './run.ts';
import type { Situation } from './situation.ts';
import { STEP_IDS, type Step } from './steps.ts';

/** A terminal wraps the commands itself, so that they can be copied: they have four spaces. */
export function wrapped(text: string, width = 80): string {
  const lines = text.split('\n');
  return lines.map((line) => (line.startsWith('    ') ? line : wrapLines(line, width))).join('\n');
}

/** Who is signed in on both sides. */
export function sidesText({ coder, aws }: Situation): string {
  const inCoder =
    'problem' in coder
      ? coder.problem
      : `${coder.value.url}, ${coder.value.version}, as ${coder.value.user}${coder.value.isOwner ? ' (owner)' : ''}`;
  const inAws =
    'problem' in aws
      ? aws.problem
      : `account ${aws.value.account}, ${aws.value.region}, as ${aws.value.caller}`;
  return `Coder:  ${inCoder}\nAWS:    ${inAws}\n\n`;
}

/** The head of a step, with what it will do and the commands that it stands for. */
export function stepText({ id, title, state, says, commands }: Step, number: number): string {
  const head = `[${number}/${STEP_IDS.length}] ${title} (${id})\n`;
  return state === 'todo' ? `${head}  ${says}\n${indented(shortened(commands))}` : head;
}

/** More lines hide what the step says on a small screen. */
const MOST_COMMANDS = 3;

function shortened(commands: readonly string[]): readonly string[] {
  const more = commands.length - MOST_COMMANDS;
  if (more <= 0) return commands;
  return [...commands.slice(0, MOST_COMMANDS), `# and ${more} more: setup --print shows all`];
}

const indented = (commands: readonly string[]): string =>
  commands.map((command) => `${command.replaceAll(/^/gm, '    ')}\n`).join('');

const WORDS: Readonly<Record<Result, string>> = {
  found: 'ok',
  done: 'done',
  skipped: 'skipped',
  cannot: 'not possible here',
  failed: 'FAILED',
  stopped: 'stopped',
};

export const outcomeText = ({ step, result, says }: Outcome): string =>
  `  ${WORDS[result]}: ${says}\n${step.state === 'todo' ? '\n' : ''}`;

/** What is left to do, and for whom. */
export function endText(outcomes: readonly Outcome[]): string {
  const { coder, aws } = handOver(outcomes);
  const deploy = outcomes.find(({ step }) => step.id === 'deploy');
  const isReady = deploy?.result === 'skipped';
  const isDeployed = deploy?.result === 'done' || deploy?.result === 'found';
  return [
    ...forOne('Coder, as an owner', coder),
    ...forOne('AWS, as an administrator', aws),
    ...(coder.length + aws.length > 0
      ? ['\nThen run setup again, with the same configuration: it finds what exists.\n']
      : []),
    ...(isReady ? [`\nDeploy with:\n\n${indented(deploy.step.commands)}`] : []),
    ...(isReady || isDeployed ? [`\n${NEXT}\n`] : []),
  ].join('');
}

const NEXT =
  'Then create a workspace: its build is the first of its pool (docs/deploy.md, step 4). Turn off the provisioners that coderd has built in only after that.';

function forOne(who: string, commands: readonly string[]): readonly string[] {
  if (commands.length === 0) return [];
  return [`\nFor a person who may do this in ${who}:\n\n${indented(commands)}`];
}

const COMMENT_WIDTH = 78;

/** All steps as a script for a shell: everything but the commands of open steps is a comment. */
export function scriptText(situation: Situation, steps: readonly Step[]): string {
  const parts = steps.map(({ id, title, state, says, commands }, index) => {
    const head = `${index + 1}. ${title} (${id})${state === 'todo' ? '' : `: ${state}`}`;
    const script = state === 'done' ? [] : commands;
    return [commented(`${head}\n${says}`), ...script].join('\n');
  });
  return `${[commented(sidesText(situation).trimEnd()), ...parts].join('\n\n')}\n`;
}

const commented = (text: string): string => wrapLines(text, COMMENT_WIDTH).replaceAll(/^/gm, '# ');
