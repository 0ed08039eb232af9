import fc from 'fast-check';
import { expect, it } from 'vitest';
import { type Constraint, equalTo, lessEq, solve } from 'yalps';
import { Network } from '../../../lambda/decision/assign/min-cost-flow.ts';
import { runs } from '../../support/runs.ts';

/** Builds a network from arcs written as `from-to capacity/cost`. Nodes are letters. */
function networkOf(...arcs: readonly string[]) {
  const network = new Network();
  const nodes = new Map([['z', network.sink]]);
  const node = (name: string): number => {
    const found = nodes.get(name) ?? network.addNode();
    nodes.set(name, found);
    return found;
  };
  const numbers = new Map<string, number>();
  for (const arc of arcs) {
    const [, from = '', to = '', capacity, cost] = /^(\w)-(\w) (\d+)\/(\d+)$/.exec(arc) ?? [];
    const ends = [node(from), node(to)] as const;
    numbers.set(`${from}-${to}`, network.addArc(...ends, { capacity: Number(capacity), cost: Number(cost) }));
  }
  return {
    send: (from: string, amount: number) => network.send(node(from), amount),
    flow: () =>
      Object.fromEntries(
        [...numbers].map(([name, arc]) => [name, network.flowOf(arc)]).filter(([, flow]) => flow !== 0),
      ),
  };
}

it('sends along the cheapest path first, then along the next one', () => {
  const network = networkOf('a-b 2/1', 'b-z 9/1', 'a-c 9/3', 'c-z 9/0');
  expect(network.send('a', 3)).toBe(3);
  expect(network.flow()).toEqual({ 'a-b': 2, 'b-z': 2, 'a-c': 1, 'c-z': 1 });
});

it('finds a cheaper path of more arcs after a more expensive one', () => {
  const network = networkOf('a-z 9/9', 'a-b 9/5', 'b-z 9/1', 'a-c 9/1', 'c-b 9/1');
  network.send('a', 1);
  expect(network.flow()).toEqual({ 'a-c': 1, 'c-b': 1, 'b-z': 1 });
});

it('sends no more than the capacity, and nothing without a path', () => {
  const network = networkOf('a-b 5/0', 'b-z 2/0', 'c-d 1/0');
  expect(network.send('a', 4)).toBe(2);
  expect(network.send('a', 1)).toBe(0);
  expect(network.send('c', 1)).toBe(0);
  expect(network.send('a', 0)).toBe(0);
  expect(network.flow()).toEqual({ 'a-b': 2, 'b-z': 2 });
});

it('refunds the cost of an arc when flow moves away from it', () => {
  const network = networkOf('a-p 1/4', 'a-q 1/6', 'b-p 1/1', 'b-r 1/4', 'p-z 1/0', 'q-z 1/0', 'r-z 1/0');
  network.send('a', 1);
  network.send('b', 1);
  // 6 and 1, not 4 and 4
  expect(network.flow()).toEqual({ 'a-q': 1, 'q-z': 1, 'b-p': 1, 'p-z': 1 });
});

it('moves the flow of an earlier source without reducing it', () => {
  const network = networkOf('a-p 1/0', 'a-q 1/0', 'b-p 1/0', 'p-z 1/1', 'q-z 1/9');
  expect(network.send('a', 1)).toBe(1);
  expect(network.flow()).toEqual({ 'a-p': 1, 'p-z': 1 });
  expect(network.send('b', 1)).toBe(1);
  expect(network.flow()).toEqual({ 'a-q': 1, 'q-z': 1, 'b-p': 1, 'p-z': 1 });
});

it('refuses an arc from a node that is older than the last send', () => {
  const network = new Network();
  const old = network.addNode();
  network.send(old, 1);
  const arc = { capacity: 1, cost: 0 };
  const message = 'adding an arc: node 1 is not new; add its arcs before the next send';
  expect(() => network.addArc(old, network.sink, arc)).toThrow(new RangeError(message));
  const late = network.addNode();
  network.addArc(late, old, arc);
  network.addArc(late, network.sink, arc);
  expect(network.send(late, 1)).toBe(1);
});

/** New nodes with their arcs; then an amount to send, and an arc to close. Numbers wrap around. */
type Step = {
  readonly nodes: readonly (readonly {
    readonly to: number;
    readonly capacity: number;
    readonly cost: number;
  }[])[];
  readonly source: number;
  readonly amount: number;
  readonly close: number | null;
};

const upTo = (max: number) => fc.integer({ min: 0, max });

function steps(close: fc.Arbitrary<number | null>): fc.Arbitrary<readonly Step[]> {
  const arc = fc.record({ to: fc.oneof(upTo(99), fc.constant(0)), capacity: upTo(4), cost: upTo(9) });
  const nodes = fc.array(fc.array(arc, { maxLength: 3 }), { minLength: 1, maxLength: 3 });
  return fc.array(fc.record({ nodes, source: upTo(99), amount: upTo(6), close }), { maxLength: 12 });
}

type Arc = { readonly from: number; readonly to: number; capacity: number; readonly cost: number };

/** A network that grows step by step, with the arcs and the amounts sent as an oracle needs them. */
class Growing {
  readonly #network = new Network();
  readonly #count = { nodes: 1 };
  readonly arcs: Arc[] = [];
  /** By node. */
  readonly sent: number[] = [0];

  /** Sends from one of the newest ten nodes. Returns how much got through. */
  send({ nodes, source }: Step, amount: number): { readonly from: number; readonly through: number } {
    const first = this.#count.nodes;
    for (const _ of nodes) this.sent[this.#network.addNode()] = 0;
    this.#count.nodes += nodes.length;
    for (const [index, own] of nodes.entries())
      for (const { to, capacity, cost } of own)
        this.#addArc(first + index, to % this.#count.nodes, { capacity, cost });
    const from = this.#count.nodes - 1 - (source % Math.min(10, this.#count.nodes - 1));
    const through = this.#network.send(from, amount);
    this.sent[from] = (this.sent[from] ?? 0) + through;
    return { from, through };
  }

  close({ close }: Step): void {
    if (close === null || this.arcs.length === 0) return;
    const arc = close % this.arcs.length;
    this.#network.close(2 * arc);
    for (const closed of this.arcs.slice(arc, arc + 1)) closed.capacity = this.#network.flowOf(2 * arc);
  }

  flows(): readonly number[] {
    return this.arcs.map((_, index) => this.#network.flowOf(2 * index));
  }

  /** An arc and its reverse have two numbers in a row. */
  #addArc(from: number, to: number, bounds: { readonly capacity: number; readonly cost: number }): void {
    expect(this.#network.addArc(from, to, bounds)).toBe(2 * this.arcs.length);
    this.arcs.push({ from, to, ...bounds });
  }
}

/** The linear program of a network: a variable for each arc. What leaves a node is what enters it, and what it sent. */
function linearProgram({ arcs, sent }: Pick<Growing, 'arcs' | 'sent'>) {
  const constraints: Record<string, Constraint> = {};
  for (const [node, amount] of sent.entries()) if (node !== 0) constraints[`n${node}`] = equalTo(amount);
  const variables: Record<string, Record<string, number>> = {};
  for (const [index, { from, to, capacity, cost }] of arcs.entries()) {
    constraints[`a${index}`] = lessEq(capacity);
    const ends = from === to ? {} : { [`n${from}`]: 1, [`n${to}`]: -1 };
    variables[`a${index}`] = { ...ends, [`a${index}`]: 1, cost };
  }
  return { constraints, variables };
}

/** The most that could be sent from a node beside what was sent before. */
function mostFrom(from: number, amount: number, before: Pick<Growing, 'arcs' | 'sent'>): number {
  const { constraints, variables } = linearProgram(before);
  const more = { [`n${from}`]: -1, more: 1 };
  const { result } = solve({
    ...{ direction: 'maximize', objective: 'more' },
    ...{ constraints: { ...constraints, more: lessEq(amount) }, variables: { ...variables, more } },
  });
  return Math.round(result) || 0;
}

it('sends as much as a linear-programming solver through networks that grow and lose arcs', () => {
  fc.assert(
    fc.property(steps(fc.option(upTo(99))), (all) => {
      const network = new Growing();
      for (const step of all) {
        const before = [...network.sent];
        const { from, through } = network.send(step, step.amount);
        const sent = network.sent.map((_, node) => before[node] ?? 0);
        expect(through).toBe(mostFrom(from, step.amount, { arcs: network.arcs, sent }));
        network.close(step);
      }
    }),
    runs(2000),
  );
});

it('sends as cheaply as a linear-programming solver through networks that grow', () => {
  fc.assert(
    fc.property(steps(fc.constant(null)), (all) => {
      const network = new Growing();
      for (const step of all) network.send(step, step.amount);
      const { constraints, variables } = linearProgram(network);
      const { result } = solve({ direction: 'minimize', objective: 'cost', constraints, variables });
      const cost = network
        .flows()
        .reduce((sum, flow, index) => sum + flow * (network.arcs[index]?.cost ?? 0), 0);
      expect(cost).toBe(Math.round(result) || 0);
    }),
    runs(2000),
  );
});

it('sends along the same paths whether or not searches have failed before', () => {
  fc.assert(
    fc.property(steps(fc.option(upTo(99))), (all) => {
      const [tried, sure] = [new Growing(), new Growing()];
      for (const step of all) {
        const { through } = tried.send(step, step.amount);
        // no search fails here, so none learns that nodes are dead
        sure.send(step, through);
        expect(tried.flows()).toEqual(sure.flows());
        for (const network of [tried, sure]) network.close(step);
      }
    }),
    runs(20_000),
  );
});
