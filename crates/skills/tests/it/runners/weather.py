"""
title: City weather
author: somebody
version: 0.2
requirements: requests>=2, rich
license: MIT
description: Tells the weather
  of a city.
"""

from typing import Any, Callable, List, Literal, Optional

from pydantic import BaseModel, Field


class Place(BaseModel):
    latitude: float
    longitude: float = 0.0


class Tools:
    class Valves(BaseModel):
        api_key: str = Field("none", description="Key")
        limit: int = Field(default=5, ge=1)

    class UserValves(BaseModel):
        unit: Literal["C", "F"] = "C"

    def __init__(self):
        self.valves = self.Valves()
        self.citation = True

    def add(self, a: int, b: int = 2) -> int:
        """
        Add two numbers.
        :param a: The first.
        :param b: The second,
            which may be long.
        :return: The sum.
        """
        print("not for the protocol")
        return a + b

    async def weather(
        self,
        city: str,
        days: Optional[int] = None,
        tags: List[str] = [],
        place: Optional[Place] = None,
        kind: Literal["now", "later"] = Field("now", description="When"),
        __user__: dict = {},
        __event_emitter__: Callable[[dict], Any] = None,
    ) -> dict:
        """The weather.

        Args:
            city (str): Name of the city
                in English.
            days: How many.

        Returns:
            dict: what it is
        """
        await __event_emitter__({"type": "status", "data": {"description": "looking", "done": False}})
        unit = __user__["valves"].unit
        return {"city": city, "key": self.valves.api_key, "unit": unit, "kind": kind}

    def fail(self):
        raise ValueError("not today")

    def _hidden(self):
        return 1
