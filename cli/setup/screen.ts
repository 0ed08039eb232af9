/** What `autoscaler setup` prints. Lines that are no commands may be wrapped. */
import { plainLine } from '../../lambda/explain/format.ts';
import { READ_VALUE } from '../shared/credential-commands.ts';
import { foldCommand, wrapLines } from '../shared/plain-table.ts';
import { handOver, type Outcome, type Result } from './run.ts';
import type { Situation } from './situation.ts';
import { STEP_IDS, type Step } from './steps.ts';

/** Commands have four spaces. `width`: of the terminal; without one, commands stay on their lines. */
export function wrapped(text: string, width?: number): string {
  const lines = text.split('\n');
  return lines
    .map((line) => (line.startsWith('    ') ? foldCommand(line, width) : wrapLines(line, width ?? 80)))
    .join('\n');
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
  return `Coder:  ${plainLine(inCoder)}\nAWS:    ${plainLine(inAws)}\n\n`;
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
  const left = outcomes.filter(({ result }) => result === 'cannot' || result === 'failed');
  const deploy = outcomes.find(({ step }) => step.id === 'deploy');
  const isReady = deploy?.result === 'skipped';
  const isDeployed = deploy?.result === 'done' || deploy?.result === 'found';
  const parts = [
    ...forOne('Commands for an owner in Coder:', coder),
    ...forOne(aws.some((command) => command.includes(READ_VALUE)) ? TYPED : 'Commands for AWS:', aws),
    ...(left.length > 0 ? [leftText(left)] : []),
    ...(isReady ? [`Deploy with:\n\n${indented(deploy.step.commands)}`] : []),
    ...(isReady || isDeployed ? [NEXT] : []),
  ];
  return parts.join('\n');
}

const TYPED =
  'Commands for AWS. Run them one at a time: each "read" waits for the token or key that the owner in Coder gives you. Paste it and press Enter; the terminal does not show it:';

function leftText(left: readonly Outcome[]): string {
  const steps = left.map(({ step }) => step.id).join(', ');
  return `Not done: ${steps}. When what they need is there, run setup again with the same configuration: it finds what exists.\n`;
}

const NEXT =
  'Then create a workspace: its build is the first of its pool (docs/deploy.md, step 4). Turn off the provisioners that coderd has built in only after that. At each start from zero Coder tells people that no provisioner accepts their tags: a task takes the job in about a minute (docs/troubleshooting.md).\n';

function forOne(head: string, commands: readonly string[]): readonly string[] {
  return commands.length === 0 ? [] : [`${head}\n\n${indented(commands)}`];
}

const COMMENT_WIDTH = 78;

/**
 * All steps as a script for a shell: everything but the commands of open steps is a comment. `width`: of
 * the terminal.
 */
export function scriptText(situation: Situation, steps: readonly Step[], width?: number): string {
  const parts = steps.map(({ id, title, state, says, commands }, index) => {
    const head = `${index + 1}. ${title} (${id})${STATES[state]}`;
    const script = state === 'done' ? [] : commands.map((command) => foldCommand(command, width));
    return [commented(`${head}\n${says}`), ...script].join('\n');
  });
  return `${[commented(sidesText(situation).trimEnd()), ...parts].join('\n\n')}\n`;
}

const STATES: Readonly<Record<Step['state'], string>> = {
  todo: '',
  done: `: ${WORDS.found}`,
  cannot: `: ${WORDS.cannot}`,
};

const commented = (text: string): string => wrapLines(text, COMMENT_WIDTH).replaceAll(/^/gm, '# ');
