import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { whyEquivalent } from './equivalent.ts';
import { choose, withChange } from './sample.ts';
import { shellMutants } from './shell-mutants.ts';

/** The mutants of one line, as lines. */
const mutantsOf = (line: string): readonly string[] =>
  shellMutants('a.sh', line).map((change) => withChange(line, change));

it.each([
  {
    line: '  [ "$now" -lt "$until" ] || end 75 no-lease',
    one: '  [ "$now" -le "$until" ] || end 75 no-lease',
  },
  { line: '  [ "$now" -lt "$until" ] || end 75 no-lease', one: '  true || end 75 no-lease' },
  {
    line: '  [ "$now" -lt "$until" ] || end 75 no-lease',
    one: '  [ "$now" -lt "$until" ] && end 75 no-lease',
  },
  { line: '  [ "$now" -lt "$until" ] || end 75 no-lease', one: '  [ "$now" -lt "$until" ] || :' },
  {
    line: '  [ "$now" -lt "$until" ] || end 75 no-lease',
    one: '  [ "$now" -lt "$until" ] || end 37 no-lease',
  },
  { line: '    *) call 2880 ;;', one: '    *) call 5760 ;;' },
  { line: '    *) call 2880 ;;', one: '' },
  { line: '  give_up=$((now + lease_within_ms))', one: '  give_up=$((now - lease_within_ms))' },
  { line: '  kill -TERM "$daemon"', one: '  :' },
  { line: 'trap on_stop TERM INT', one: 'trap on_stop USR2 INT' },
  { line: '    why=pool-not-named && return 1', one: '    why=pool-not-named && return 0' },
  { line: '  *) return 0 ;;', one: '  *) return 1 ;;' },
  { line: `left_ms=\${TEST_LEFT_MS:-600000}`, one: `left_ms=\${TEST_LEFT_MS:-300000}` },
  { line: '  died_ms=$((died_ms * 3))', one: '  died_ms=$((died_ms * 4))' },
])('one mutant of $line is $one', ({ line, one }) => {
  expect(mutantsOf(line)).toContain(one);
});

it('leaves comments as they are', () => {
  expect(shellMutants('a.sh', '# [ "$now" -lt 5 ] || end 75')).toEqual([]);
});

it.each(['  why=other && return 1', 'asked=1', '  run >/dev/null 2>&1', '  for _ in 1 2 3; do'])(
  'changes no number of %s, which could make no difference',
  (line) => {
    const numbers = shellMutants('a.sh', line).filter(({ mutatorName }) => mutatorName === 'number');
    expect(numbers).toEqual([]);
  },
);

it('changes most lines of the guard that hold a command', () => {
  const text = readFileSync('guard/guard.sh', 'utf8');
  const changed = new Set(shellMutants('guard.sh', text).map(({ location }) => location.start.line));
  const commands = text.split('\n').filter((line) => /^\s*[^\s#}]/.test(line));
  expect(changed.size).toBeGreaterThan(0.75 * commands.length);
});

it('chooses the same mutants for a seed, others for another one, and all if there are no more', () => {
  const all = Array.from({ length: 100 }, (_, index) => index);
  expect(choose(all, 5, 1)).toEqual(choose(all, 5, 1));
  expect(choose(all, 5, 1)).not.toEqual(choose(all, 5, 2));
  expect(choose(all, 5, 1)).toHaveLength(5);
  expect(choose(all, 200, 1)).toEqual(all);
});

it('knows the equivalent changes of the guard by their new lines', () => {
  const text = readFileSync('guard/guard.sh', 'utf8');
  const known = shellMutants('guard/guard.sh', text).filter((change) => {
    const line = withChange(text, change).split('\n')[change.location.start.line]?.trim();
    return (
      whyEquivalent({ place: 'guard/guard.sh:1:1', change: `${change.mutatorName}: ${line}` }) !== undefined
    );
  });
  // an entry that no change gives any more is to be removed
  expect(known).toHaveLength(9);
});
