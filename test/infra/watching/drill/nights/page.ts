/** Writes what the nights of the drill showed as docs/drill.md. */
import { DESCRIPTIONS, mailsOf, type RungAlarm } from '../cloudwatch.ts';
import type { Played } from './played.ts';

/** Whether `status` (as printed, or with `--explain`) and `doctor` have the words that lead to the cause. */
export function namedBy({ cause: { words }, status, whole, doctor }: Played): readonly string[] {
  return [
    ...(words.test(wordsOf(status)) ? ['status'] : words.test(wordsOf(whole)) ? ['status --explain'] : []),
    ...(words.test(notPassed(doctor)) ? ['doctor'] : []),
  ];
}

export function pageOf(groups: readonly (readonly [title: string, nights: readonly Played[]])[]): string {
  const all = groups.flatMap(([, nights]) => nights);
  return `${[
    '# What each cause looks like at night',
    '',
    '<!-- written by test/infra/watching/drill/nights/nights.test.ts: do not edit. -->',
    '',
    `${all.length} nights in the simulated world: one pool with \`max: 4\`, and a person who starts a workspace each`,
    'four minutes. Minutes count from the cause. The person looks three minutes after the first mail, or after twenty',
    'minutes without one, and mends the cause after 40 minutes where nothing else is said. What to do is in',
    '[operate.md](operate.md#alarms).',
    '',
    '| cause | alarms: from, until (minutes) | mails | named by |',
    '| --- | --- | --- | --- |',
    ...all.map((night) => {
      const { cause, rung } = night;
      const mails = cause.unsent === undefined ? mailsOf(rung) : 0;
      return `| [${cause.cause}](#${anchor(cause.cause)}) | ${rung.map(spanText).join(', ') || 'none'} | ${mails} | ${namedBy(night).join(', ') || '**nothing**'} |`;
    }),
    '',
    '## By alarm',
    '',
    ...[...DESCRIPTIONS.keys()].flatMap((name) => causesOf(name, all)),
    '',
    '## The mails',
    '',
    'The subject of a mail is `ALARM: "STACK-NAME" in REGION`. Its text begins with this description:',
    '',
    ...[...DESCRIPTIONS].map(([name, text]) => `- \`${name}\`: ${text.replace(/ More: .*/, '')}`),
    '',
    ...groups.flatMap(([title, nights]) => [`## ${title}`, '', ...nights.flatMap(section)]),
  ]
    .join('\n')
    .trimEnd()}\n`;
}

/** The first alarm of a night is what wakes people. */
function causesOf(alarm: string, all: readonly Played[]): readonly string[] {
  const causes = all.flatMap(({ cause: { cause }, rung }) => {
    const isFirst = rung[0]?.name === alarm;
    return rung.some(({ name }) => name === alarm)
      ? [`${isFirst ? '' : 'later: '}[${cause}](#${anchor(cause)})`]
      : [];
  });
  return [
    `- \`${alarm}\`: ${causes.toSorted((a, b) => Number(a.startsWith('later')) - Number(b.startsWith('later'))).join('; ') || 'no night of the drill'}`,
  ];
}

function section(night: Played): readonly string[] {
  const { cause, rung, lookedAt, status, doctor, mendedAt, builds } = night;
  const lost =
    builds.failedByCoderd === 0 ? '' : ` coderd failed ${builds.failedByCoderd} jobs without a daemon.`;
  return [
    `### ${cause.cause[0]?.toUpperCase()}${cause.cause.slice(1)}`,
    '',
    `**Alarms:** ${rung.map(spanText).join(', ') || 'none'}. **Ended by:** ${cause.act}, after ${mendedAt} min.${lost}${cause.unsent === undefined ? '' : ` ${cause.unsent}`}`,
    '',
    `\`autoscaler status\` after ${lookedAt} min:`,
    '',
    '```text',
    wordsOf(status),
    '```',
    '',
    '`autoscaler doctor`:',
    '',
    '```text',
    notPassed(doctor),
    '```',
    '',
  ];
}

/** Without the lines that say what has passed. */
function notPassed(doctor: string): string {
  return doctor
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('ok '))
    .join('\n');
}

/** Without the waits of the last hour, which say nothing about the cause. */
function wordsOf(status: string): string {
  return status
    .replace(/\nwaits of the last hour:.*\n( {2}.*\n)?/, '\n')
    .replaceAll(/\n\n+/g, '\n\n')
    .trimEnd();
}

const spanText = ({ name, from, until }: RungAlarm): string =>
  `\`${name}\` ${from} to ${until === undefined ? 'the end' : until}`;

const anchor = (title: string): string =>
  title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
