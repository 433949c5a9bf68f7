"""A FastAPI app that answers with what FastAPI read. Takes a free port and prints it."""

import base64
import secrets
from pathlib import Path
from typing import Annotated, Literal

import uvicorn
from fastapi import Body, Cookie, Depends, FastAPI, File, Form, Header, HTTPException, Query, Request, Response, UploadFile
from fastapi.openapi.models import OAuthFlowClientCredentials, OAuthFlows
from fastapi.security import (
    APIKeyCookie,
    APIKeyHeader,
    APIKeyQuery,
    HTTPAuthorizationCredentials,
    HTTPBasic,
    HTTPBasicCredentials,
    HTTPBearer,
    OAuth2,
)
from pydantic import BaseModel

app = FastAPI(title="Echo", version="1.0")


@app.get("/path/{text}/{number}/{flag}")
def path(text: str, number: float, flag: bool):
    return {"text": text, "number": number, "flag": flag}


@app.get("/below/{rest:path}")
def below(rest: str):
    return {"rest": rest}


@app.get("/query")
def query(
    text: str | None = None,
    number: int | None = None,
    ratio: float | None = None,
    flag: bool | None = None,
    many: Annotated[list[str], Query()] = [],
    counts: Annotated[list[int], Query()] = [],
):
    return {"text": text, "number": number, "ratio": ratio, "flag": flag, "many": many, "counts": counts}


@app.get("/header")
def header(x_text: Annotated[str | None, Header()] = None, x_number: Annotated[int | None, Header()] = None):
    return {"x-text": x_text, "x-number": x_number}


@app.get("/cookie")
def cookie(session: Annotated[str | None, Cookie()] = None, other: Annotated[int | None, Cookie()] = None):
    return {"session": session, "other": other}


class Inner(BaseModel):
    a: int
    b: list[float]


class Item(BaseModel):
    name: str
    count: int
    tags: list[str] = []
    inner: Inner | None = None


@app.post("/json/{name}")
def json_body(name: str, item: Item, dry: bool = False):
    return {"path": name, "dry": dry, "item": item}


@app.post("/optional")
def optional(item: Annotated[Item | None, Body()] = None):
    return {"item": item}


@app.post("/form")
def form(name: Annotated[str, Form()], count: Annotated[int, Form()], tags: Annotated[list[str], Form()] = []):
    return {"name": name, "count": count, "tags": tags}


async def told(file: UploadFile):
    data = base64.b64encode(await file.read()).decode()
    return {"name": file.filename, "type": file.content_type, "data": data}


@app.post("/upload")
async def upload(
    file: UploadFile,
    note: Annotated[str, Form()],
    more: Annotated[list[UploadFile], File()] = [],
):
    return {"file": await told(file), "note": note, "more": [await told(one) for one in more]}


def raw(media_type: str, schema: dict):
    return {"requestBody": {"required": True, "content": {media_type: {"schema": schema}}}}


async def as_it_came(request: Request):
    data = base64.b64encode(await request.body()).decode()
    return {"type": request.headers.get("content-type"), "data": data}


@app.post("/text", openapi_extra=raw("text/plain", {"type": "string"}))
async def text(request: Request):
    return await as_it_came(request)


@app.post("/bytes", openapi_extra=raw("application/octet-stream", {"type": "string", "format": "binary"}))
async def octets(request: Request):
    return await as_it_came(request)


@app.get("/secure/bearer")
def bearer(who: Annotated[HTTPAuthorizationCredentials, Depends(HTTPBearer())]):
    return {"scheme": who.scheme, "token": who.credentials}


@app.get("/secure/basic")
def basic(who: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())]):
    return {"user": who.username, "password": who.password}


@app.get("/secure/header")
def key_in_header(key: Annotated[str, Depends(APIKeyHeader(name="X-Key"))]):
    return {"key": key}


@app.get("/secure/query")
def key_in_query(key: Annotated[str, Depends(APIKeyQuery(name="key"))]):
    return {"key": key}


@app.get("/secure/cookie")
def key_in_cookie(key: Annotated[str, Depends(APIKeyCookie(name="key"))]):
    return {"key": key}


flow = OAuthFlowClientCredentials(tokenUrl="/token", scopes={"read": "Read"})
client = OAuth2(scheme_name="Client", flows=OAuthFlows(clientCredentials=flow))
given: list[str] = []


@app.post("/token", include_in_schema=False)
def token(
    who: Annotated[HTTPBasicCredentials, Depends(HTTPBasic())],
    grant_type: Annotated[str, Form()],
    scope: Annotated[str, Form()] = "",
):
    if (who.username, who.password, grant_type) != ("tenon", "s3cret", "client_credentials"):
        raise HTTPException(400, "unauthorized_client")
    given.append(secrets.token_urlsafe())
    return {"access_token": given[-1], "token_type": "bearer", "expires_in": 3600, "scope": scope}


@app.get("/secure/client")
def with_token(line: Annotated[str, Depends(client)]):
    # The last one only: another makes those before it useless.
    if line != f"Bearer {given[-1] if given else ''}":
        raise HTTPException(401, "unknown token")
    return {"given": len(given)}


@app.post("/forget", include_in_schema=False)
def forget():
    given.append("nobody has this one")


PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@app.get("/answer/picture")
def picture():
    return Response(PIXEL, media_type="image/png")


@app.get("/answer/file")
def file():
    headers = {"content-disposition": "attachment; filename=\"x.zip\"; filename*=UTF-8''%E5%90%8D.zip"}
    return Response(b"PK\x03\x04", media_type="application/zip", headers=headers)


@app.get("/answer/text")
def latin():
    return Response("é".encode("latin-1"), headers={"content-type": "text/plain; charset=iso-8859-1"})


@app.get("/answer/page/{name}")
def page(name: Literal["report", "prisoner", "runaway"], shown: bool = True, port: int = 9):
    html = (Path(__file__).parent / "pages" / f"{name}.html").read_text()
    # Where those that want to get out want to get.
    html = html.replace("PORT", str(port))
    headers = {"content-disposition": f"inline; filename={name}.html"} if shown else {}
    return Response(html, media_type="text/html", headers=headers)


@app.delete("/answer/nothing", status_code=204)
def nothing():
    return None


@app.get("/answer/broken")
def broken():
    raise HTTPException(503, {"message": "closed"}, headers={"Retry-After": "7"})


if __name__ == "__main__":
    uvicorn.run(app, host="127.0.0.1", port=0, log_level="info")
