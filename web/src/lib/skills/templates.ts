// What a new tool begins with: small, working, and with one of everything that can be used.
import type { ModuleLanguage } from './module';

export const templates: Record<ModuleLanguage, string> = {
  python: `"""
title: Dice
description: Rolls dice and flips coins.
version: 0.1.0
requirements:
"""

import random

from pydantic import BaseModel, Field


class Tools:
    class Valves(BaseModel):
        max_dice: int = Field(default=100, description="More are not rolled at once.")

    def __init__(self):
        self.valves = self.Valves()

    def roll(self, count: int = 1, sides: int = 6) -> dict:
        """
        Roll dice and add them up.

        :param count: How many dice.
        :param sides: How many sides each of them has.
        """
        count = min(count, self.valves.max_dice)
        rolled = [random.randint(1, sides) for _ in range(count)]
        print(f"{count}d{sides}: {rolled}")
        return {"rolled": rolled, "total": sum(rolled)}

    async def flip(self, times: int = 1, __event_emitter__=None) -> str:
        """
        Flip a coin.

        :param times: How often.
        """
        if __event_emitter__:
            status = {"description": "The coin is in the air", "done": False}
            await __event_emitter__({"type": "status", "data": status})
        return ", ".join(random.choice(["heads", "tails"]) for _ in range(times))
`,
  node: `/**
 * @title Dice
 * @description Rolls dice and flips coins.
 * @version 0.1.0
 */

/**
 * Roll dice and add them up.
 *
 * @param {integer} [count=1] How many dice.
 * @param {integer} [sides=6] How many sides each of them has.
 */
export function roll(count = 1, sides = 6) {
  const rolled = Array.from({ length: count }, () => 1 + Math.floor(Math.random() * sides));
  console.log(\`\${count}d\${sides}: \${rolled}\`);
  return { rolled, total: rolled.reduce((sum, one) => sum + one, 0) };
}

/**
 * Flip a coin.
 *
 * @param {integer} [times=1] How often.
 */
export async function flip(times = 1, context) {
  context.emit({ type: 'status', data: { description: 'The coin is in the air', done: false } });
  return Array.from({ length: times }, () => (Math.random() < 0.5 ? 'heads' : 'tails')).join(', ');
}
`,
};

/** What a file that is opened holds. */
export function languageOf(fileName: string): ModuleLanguage {
  return /\.py$/i.test(fileName) ? 'python' : 'node';
}
