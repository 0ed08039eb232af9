import { expect, it } from 'vitest';
import { Network } from '../../../lambda/decision/assign/min-cost-flow.ts';

/** Builds a network from arcs written as `from-to capacity/cost`. Nodes are letters. */
function networkOf(...arcs: readonly string[]) {
  const network = new Network();
  const nodes = new Map<string, number>();
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
    send: (from: string, to: string, amount: number) => network.send(node(from), node(to), amount),
    flow: () =>
      Object.fromEntries(
        [...numbers].map(([name, arc]) => [name, network.flowOf(arc)]).filter(([, flow]) => flow !== 0),
      ),
  };
}

it('sends along the cheapest path first, then along the next one', () => {
  const network = networkOf('a-b 2/1', 'b-z 9/1', 'a-c 9/3', 'c-z 9/0');
  expect(network.send('a', 'z', 3)).toBe(3);
  expect(network.flow()).toEqual({ 'a-b': 2, 'b-z': 2, 'a-c': 1, 'c-z': 1 });
});

it('finds a cheaper path of more arcs after a more expensive one', () => {
  const network = networkOf('a-z 9/9', 'a-b 9/5', 'b-z 9/1', 'a-c 9/1', 'c-b 9/1');
  network.send('a', 'z', 1);
  expect(network.flow()).toEqual({ 'a-c': 1, 'c-b': 1, 'b-z': 1 });
});

it('sends no more than the capacity, and nothing without a path', () => {
  const network = networkOf('a-b 5/0', 'b-z 2/0', 'c-d 1/0');
  expect(network.send('a', 'z', 4)).toBe(2);
  expect(network.send('a', 'z', 1)).toBe(0);
  expect(network.send('c', 'z', 1)).toBe(0);
  expect(network.send('a', 'z', 0)).toBe(0);
  expect(network.flow()).toEqual({ 'a-b': 2, 'b-z': 2 });
});

it('refunds the cost of an arc when flow moves away from it', () => {
  const network = networkOf('a-p 1/4', 'a-q 1/6', 'b-p 1/1', 'b-r 1/4', 'p-z 1/0', 'q-z 1/0', 'r-z 1/0');
  network.send('a', 'z', 1);
  network.send('b', 'z', 1);
  // 6 and 1, not 4 and 4
  expect(network.flow()).toEqual({ 'a-q': 1, 'q-z': 1, 'b-p': 1, 'p-z': 1 });
});

it('moves the flow of an earlier source without reducing it', () => {
  const network = networkOf('a-p 1/0', 'a-q 1/0', 'b-p 1/0', 'p-z 1/1', 'q-z 1/9');
  expect(network.send('a', 'z', 1)).toBe(1);
  expect(network.flow()).toEqual({ 'a-p': 1, 'p-z': 1 });
  expect(network.send('b', 'z', 1)).toBe(1);
  expect(network.flow()).toEqual({ 'a-q': 1, 'q-z': 1, 'b-p': 1, 'p-z': 1 });
});
