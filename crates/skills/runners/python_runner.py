"""Describes and runs a Python module with a class `Tools`.

    python_runner.py --describe tools.py    prints what the module has, as one line of JSON
    python_runner.py --serve tools.py       answers calls, one line of JSON each, until input ends

The protocol is in the README beside this folder. Needs nothing but Python 3.9; where pydantic is not
installed, a small stand-in takes its place.
"""

import ast
import asyncio
import dataclasses
import enum
import importlib.util
import inspect
import json
import os
import re
import sys
import traceback
import types
import typing

# Packages of Open WebUI, in its present and its former layout.
INTERNALS = ("open_webui", "apps", "backend")

# What a call brings for parameters such as `__user__`. Where there is no chat, those of the chat are None.
SERVED = ("user", "event_emitter", "metadata", "chat_id", "message_id")


# --- pydantic, or what tools use of it -------------------------------------------------------


class Undefined:
    """No default."""


def install_pydantic_stand_in():
    """Makes `import pydantic` work: BaseModel and Field, without validation beyond simple types."""

    class FieldInfo:
        def __init__(self, default=Undefined, *, default_factory=None, description=None, **extra):
            self.default = Undefined if default is ... else default
            self.default_factory = default_factory
            self.description = description
            self.extra = extra

        def value(self):
            return self.default_factory() if self.default_factory else self.default

    def field(default=Undefined, **options):
        return FieldInfo(default, **options)

    class BaseModel:
        def __init__(self, **values):
            for name, hint, info in self._fields():
                if name in values:
                    value = coerced(values[name], hint)
                else:
                    value = info.value()
                    if value is Undefined:
                        raise ValueError(f"{type(self).__name__}.{name} has no value")
                setattr(self, name, value)

        @classmethod
        def _fields(cls):
            fields = {}
            for base in reversed(cls.__mro__):
                for name in base.__dict__.get("__annotations__", {}):
                    if name.startswith("_") or name == "model_config":
                        continue
                    info = base.__dict__.get(name, Undefined)
                    info = info if isinstance(info, FieldInfo) else FieldInfo(info)
                    fields[name] = info
            hints = hints_of(cls)
            return [(name, hints.get(name, typing.Any), info) for name, info in fields.items()]

        @classmethod
        def model_json_schema(cls):
            properties, required = {}, []
            for name, hint, info in cls._fields():
                schema = schema_of(hint)
                apply_field(schema, info)
                value = info.value()
                if value is Undefined:
                    required.append(name)
                else:
                    schema["default"] = plain(value)
                properties[name] = schema
            schema = {"type": "object", "title": cls.__name__, "properties": properties}
            if required:
                schema["required"] = required
            return schema

        schema = model_json_schema

        def model_dump(self, **_):
            return {name: plain(getattr(self, name)) for name, _, _ in self._fields()}

        dict = model_dump

        def model_dump_json(self, **_):
            return json.dumps(self.model_dump())

        json = model_dump_json

        def __repr__(self):
            return f"{type(self).__name__}({self.model_dump()!r})"

    def decorator(*_, **__):
        return lambda function: function

    module = types.ModuleType("pydantic")
    module.BaseModel = BaseModel
    module.Field = field
    module.ConfigDict = dict
    for name in ("validator", "field_validator", "model_validator", "root_validator"):
        setattr(module, name, decorator)
    for name in ("HttpUrl", "SecretStr", "EmailStr", "AnyUrl"):
        setattr(module, name, str)
    sys.modules["pydantic"] = module
    fields = types.ModuleType("pydantic.fields")
    fields.FieldInfo = FieldInfo
    fields.Field = field
    sys.modules["pydantic.fields"] = fields


def coerced(value, hint):
    """A setting that came as text, as the simple type that it should be."""
    if isinstance(value, str) and hint in (int, float):
        return hint(value)
    if isinstance(value, str) and hint is bool:
        return value.strip().lower() in ("1", "true", "yes", "on")
    return value


def is_field(value):
    return type(value).__name__ == "FieldInfo"


def apply_field(schema, info):
    """What a `Field` says beside its default."""
    if getattr(info, "description", None):
        schema["description"] = info.description
    extra = dict(getattr(info, "extra", None) or {})
    limits = {"ge": "minimum", "gt": "exclusiveMinimum", "le": "maximum", "lt": "exclusiveMaximum"}
    limits.update({"min_length": "minLength", "max_length": "maxLength", "pattern": "pattern"})
    for name, keyword in limits.items():
        if extra.get(name) is not None:
            schema[keyword] = extra[name]
    for constraint in getattr(info, "metadata", None) or []:
        for name, keyword in limits.items():
            if getattr(constraint, name, None) is not None:
                schema[keyword] = getattr(constraint, name)
    if isinstance(extra.get("json_schema_extra"), dict):
        schema.update(extra["json_schema_extra"])


def field_default(info):
    """The default of a `Field`, of pydantic or the stand-in; `Undefined` for none."""
    if getattr(info, "default_factory", None):
        return info.default_factory()
    default = getattr(info, "default", Undefined)
    is_absent = default is Undefined or default is ... or type(default).__name__ == "PydanticUndefinedType"
    return Undefined if is_absent else default


# --- schemas -------------------------------------------------------------------------------


SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", bytes: "string"}


def schema_of(hint, depth=0):
    """The JSON Schema of a type hint; what says nothing allows everything."""
    if depth > 8 or hint in (typing.Any, inspect.Parameter.empty, object):
        return {}
    if hint is None or hint is type(None):
        return {"type": "null"}
    if isinstance(hint, str):
        return {}
    if hint in SIMPLE:
        return {"type": SIMPLE[hint]}
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Annotated:
        return annotated_schema(arguments, depth)
    if origin is typing.Literal:
        return literal_schema(list(arguments))
    if origin is typing.Union or origin is getattr(types, "UnionType", None):
        return union_schema(arguments, depth)
    collection = origin or hint
    if collection in (list, set, frozenset, tuple) or name_of(collection) in ("Sequence", "Iterable"):
        items = [one for one in arguments if one is not Ellipsis]
        schema = {"type": "array"}
        inner = schema_of(items[0], depth + 1) if len(items) == 1 or origin is not tuple and items else {}
        schema["items"] = inner
        return schema
    if collection is dict or name_of(collection) == "Mapping":
        schema = {"type": "object"}
        if len(arguments) == 2 and schema_of(arguments[1], depth + 1):
            schema["additionalProperties"] = schema_of(arguments[1], depth + 1)
        return schema
    return class_schema(hint, depth)


def name_of(value):
    return getattr(value, "__name__", "")


def annotated_schema(arguments, depth):
    schema = schema_of(arguments[0], depth + 1)
    for note in arguments[1:]:
        if isinstance(note, str):
            schema["description"] = note
        elif is_field(note):
            apply_field(schema, note)
    return schema


def literal_schema(values):
    kinds = {SIMPLE.get(type(value)) for value in values}
    schema = {"enum": values}
    if len(kinds) == 1 and None not in kinds:
        schema["type"] = kinds.pop()
    return schema


def union_schema(arguments, depth):
    members = [one for one in arguments if one is not type(None)]
    schemas = [schema_of(one, depth + 1) for one in members]
    # An argument that may be None may as well be left out: models do better with the plain type.
    if len(schemas) == 1:
        return schemas[0]
    return {"anyOf": schemas}


def class_schema(hint, depth):
    if not isinstance(hint, type):
        supertype = getattr(hint, "__supertype__", None)
        return schema_of(supertype, depth + 1) if supertype else {}
    if issubclass(hint, enum.Enum):
        return literal_schema([member.value for member in hint])
    if hasattr(hint, "model_json_schema"):
        return without_references(hint.model_json_schema())
    if dataclasses.is_dataclass(hint) or hasattr(hint, "__total__"):
        hints = hints_of(hint)
        properties = {name: schema_of(one, depth + 1) for name, one in hints.items()}
        return {"type": "object", "properties": properties}
    return {}


def without_references(schema, definitions=None, depth=0):
    """A schema of pydantic with its `$defs` written where they are used."""
    if definitions is None:
        definitions = schema.get("$defs", {})
    if depth > 12:
        return {}
    if isinstance(schema, list):
        return [without_references(one, definitions, depth + 1) for one in schema]
    if not isinstance(schema, dict):
        return schema
    reference = schema.get("$ref", "")
    if isinstance(reference, str) and reference.startswith("#/$defs/"):
        target = definitions.get(reference[len("#/$defs/") :], {})
        rest = {key: value for key, value in schema.items() if key != "$ref"}
        return without_references({**target, **rest}, definitions, depth + 1)
    members = ((key, value) for key, value in schema.items() if key != "$defs")
    return {key: without_references(value, definitions, depth + 1) for key, value in members}


def hints_of(thing):
    try:
        return typing.get_type_hints(thing, include_extras=True)
    except Exception:
        return dict(getattr(thing, "__annotations__", {}))


def plain(value):
    """A value as JSON has it."""
    if value is None or isinstance(value, (str, int, float, bool)):
        # JSON has no NaN.
        return str(value) if isinstance(value, float) and value - value != 0 else value
    if isinstance(value, enum.Enum):
        return plain(value.value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(one) for one in value]
    if hasattr(value, "model_dump"):
        return plain(value.model_dump())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return plain(dataclasses.asdict(value))
    if isinstance(getattr(value, "body", None), bytes):
        # A response of a web framework.
        return value.body.decode("utf-8", "replace")
    return str(value)


# --- the module ----------------------------------------------------------------------------


def front_matter(source):
    """The `key: value` lines of the docstring at the top."""
    try:
        docstring = ast.get_docstring(ast.parse(source)) or ""
    except SyntaxError:
        found = re.match(r'\s*(?:"""|\'\'\')(.*?)(?:"""|\'\'\')', source, re.DOTALL)
        docstring = inspect.cleandoc(found.group(1)) if found else ""
    fields, key = {}, None
    for line in docstring.splitlines():
        found = re.match(r"([A-Za-z_]+):\s*(.*)$", line)
        if found:
            key = found.group(1).lower()
            fields[key] = found.group(2).strip()
        elif key and line.strip():
            fields[key] = f"{fields[key]} {line.strip()}".strip()
        else:
            key = None
    if not fields and docstring:
        fields["description"] = docstring.strip()
    return fields


def imports(nodes):
    """The modules that nodes of the code import, with their lines."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module, node.lineno


def imported_internals(nodes):
    return [(name, line) for name, line in imports(nodes) if name.split(".")[0] in INTERNALS]


def missing_modules(nodes):
    """All that is not installed, so that a person learns of everything at once."""
    names = {name.split(".")[0] for name, _ in imports(nodes)}
    return [name for name in names if not is_installed(name)]


def is_installed(name):
    return name in sys.modules or importlib.util.find_spec(name) is not None


def load(path):
    if importlib.util.find_spec("pydantic") is None:
        install_pydantic_stand_in()
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    sys.dont_write_bytecode = True
    spec = importlib.util.spec_from_file_location("tenon_tools", path)
    module = importlib.util.module_from_spec(spec)
    # Type hints that are texts are looked up by the module's name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def tools_of(module):
    """The object whose methods are the tools."""
    holder = getattr(module, "Tools", None)
    if holder is None:
        raise LookupError("there is no class `Tools`: put the functions into `class Tools:` as methods")
    return holder() if isinstance(holder, type) else holder


def methods_of(tools):
    for name in vars_in_order(type(tools)):
        if name.startswith("_"):
            continue
        method = getattr(tools, name, None)
        if inspect.ismethod(method) or inspect.isfunction(method):
            yield name, method


def vars_in_order(cls):
    names = {}
    for base in reversed(cls.__mro__):
        if base is not object:
            names.update(dict.fromkeys(vars(base)))
    return list(names)


def describe_method(name, method):
    docstring = inspect.getdoc(method) or ""
    text, documented = parse_docstring(docstring)
    hints = hints_of(method)
    properties, required = {}, []
    for parameter in parameters_of(method):
        hint = hints.get(parameter.name, parameter.annotation)
        schema = schema_of(hint)
        default = parameter.default
        if is_field(default):
            apply_field(schema, default)
            default = field_default(default)
        elif default is inspect.Parameter.empty:
            default = Undefined
        if parameter.name in documented and "description" not in schema:
            schema["description"] = documented[parameter.name]
        if default is Undefined:
            required.append(parameter.name)
        elif default is not None:
            schema["default"] = plain(default)
        properties[parameter.name] = schema
    schema = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {"name": name, "description": text, "parameters": schema}


def parameters_of(method):
    """What a caller passes: `__user__` and its kind come from the runner."""
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    for parameter in inspect.signature(method).parameters.values():
        if parameter.kind not in variadic and not is_injected(parameter.name):
            yield parameter


def is_injected(name):
    return name.startswith("__") and name.endswith("__")


def parse_docstring(docstring):
    """The text, and the descriptions of parameters in reST (`:param x:`) or Google style (`Args:`)."""
    text, documented = [], {}
    section, current, indent = None, None, 0
    for line in docstring.splitlines():
        stripped = line.strip()
        rest = re.match(r":(?:param|parameter|arg|argument)\s+(?:[^:]*\s)?\**(\w+)\s*:\s*(.*)$", stripped)
        if rest:
            section, current = "param", rest.group(1)
            documented[current] = rest.group(2)
        elif re.match(r":(returns?|rtype|raises?|type)\b.*:", stripped):
            section, current = "other", None
        elif re.match(r"(Args|Arguments|Parameters|Params):$", stripped):
            section, current, indent = "args", None, leading(line)
        elif re.match(r"(Returns?|Raises?|Yields?|Examples?|Notes?):", stripped):
            section, current = "other", None
        elif section == "args" and stripped and leading(line) > indent:
            found = re.match(r"\**(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)$", stripped)
            if found and (current is None or leading(line) <= current_indent):
                current, current_indent = found.group(1), leading(line)
                documented[current] = found.group(2)
            elif current:
                documented[current] = f"{documented[current]} {stripped}".strip()
        elif section == "param" and current and stripped and line != stripped:
            documented[current] = f"{documented[current]} {stripped}".strip()
        elif section in (None, "args", "param") and (stripped or section is None):
            section, current = None, None
            text.append(line)
    return "\n".join(text).strip(), {name: text for name, text in documented.items() if text}


def leading(line):
    return len(line) - len(line.lstrip())


def settings_schema(tools, name):
    model = getattr(tools, name, None)
    if isinstance(model, type) and hasattr(model, "model_json_schema"):
        return without_references(model.model_json_schema())
    return None


def describe(path):
    with open(path, encoding="utf-8-sig") as file:
        source = file.read()
    fields = front_matter(source)
    requirements = [one.strip() for one in fields.get("requirements", "").split(",")]
    description = {
        "title": fields.get("title"),
        "description": fields.get("description"),
        "author": fields.get("author"),
        "version": fields.get("version"),
        "license": fields.get("license") or fields.get("licence"),
        "requirements": [one for one in requirements if one],
        "tools": [],
    }
    try:
        tools = tools_of(load(path))
        description["tools"] = [describe_method(*one) for one in methods_of(tools)]
        description["warnings"] = warnings_of(source, tools)
        description["settings"] = settings_schema(tools, "Valves")
        description["userSettings"] = settings_schema(tools, "UserValves")
        if not description["tools"]:
            message = "the class `Tools` has no method whose name begins with a letter"
            description["error"] = {"kind": "no_tools", "message": message}
    except BaseException as error:
        description["error"] = fault(error, path, source)
    return description


def warnings_of(source, tools):
    """What is not here although the module loads without it."""
    nodes = list(ast.walk(ast.parse(source)))
    warnings = [
        {"kind": "internals", "line": line, "names": [name]}
        for name, line in imported_internals(nodes)
        if not is_installed(name.split(".")[0])
    ]
    functions = [node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    lines = {(one.name, argument.arg): argument.lineno for one in functions for argument in arguments_of(one)}
    for name, method in methods_of(tools):
        for parameter in unserved_parameters(method):
            line = lines.get((name, parameter.name))
            warnings.append({"kind": "parameter", "line": line, "names": [parameter.name], "tool": name})
    return sorted(warnings, key=lambda warning: warning["line"] or 0)


def arguments_of(function):
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def unserved_parameters(method):
    """What only Open WebUI passes, where the method does not say what to do without it."""
    for parameter in inspect.signature(method).parameters.values():
        is_needed = parameter.default is inspect.Parameter.empty
        if is_injected(parameter.name) and is_needed and parameter.name.strip("_") not in SERVED:
            yield parameter


def fault(error, path, source):
    message = f"{type(error).__name__}: {error}"
    line = line_in(error, path)
    if isinstance(error, SyntaxError) and error.filename == path:
        return {"kind": "syntax", "message": error.msg, "line": error.lineno}
    if isinstance(error, ImportError):
        tree = ast.parse(source)
        internals = imported_internals(ast.walk(tree))
        missing = (error.name or "").split(".")[0]
        # Installing what else is missing would not help a module that needs these to load.
        if missing in INTERNALS and internals or imported_internals(tree.body):
            modules = list(dict.fromkeys(name for name, _ in internals))
            return {"kind": "internals", "message": message, "line": internals[0][1], "modules": modules}
        if isinstance(error, ModuleNotFoundError):
            modules = sorted({missing, *missing_modules(tree.body)})
            return {"kind": "missing_module", "message": message, "line": line, "modules": modules}
    if isinstance(error, LookupError) and "class `Tools`" in str(error):
        return {"kind": "no_tools", "message": str(error)}
    return {"kind": "load", "message": message, "line": line}


def line_in(error, path):
    """The last line of the module that an error passed through."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == path]
    return lines[-1] if lines else None


# --- serving -------------------------------------------------------------------------------


class Server:
    """Answers one call after the other; what the code prints goes to standard error."""

    def __init__(self, path, output):
        self.path = path
        self.output = output
        self.tools = tools_of(load(path))
        self.loop = asyncio.new_event_loop()
        asyncio.set_event_loop(self.loop)

    def send(self, message):
        self.output.write(json.dumps(message, ensure_ascii=False) + "\n")
        self.output.flush()

    def run(self, lines):
        self.send({"ready": True})
        for line in lines:
            if line.strip():
                self.answer(line)

    def answer(self, line):
        call_id = None
        try:
            request = json.loads(line)
            call_id = request.get("id")
            result = self.loop.run_until_complete(self.call(request))
            self.send({"id": call_id, "result": plain(result)})
        except BaseException as error:
            self.send({"id": call_id, "error": self.failure(error)})
            if isinstance(error, KeyboardInterrupt):
                raise

    def failure(self, error):
        text = str(error) or type(error).__name__
        return {"message": text, "type": type(error).__name__, "line": line_in(error, self.path)}

    async def call(self, request):
        name = request.get("tool") or ""
        method = None if name.startswith("_") else getattr(self.tools, name, None)
        if not callable(method):
            raise LookupError(f"the module has no tool `{name}`")
        self.apply_settings(request)
        arguments = dict(request.get("arguments") or {})
        known = inspect.signature(method).parameters
        takes_any = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in known.values())
        passed = {}
        for key, value in arguments.items():
            if not is_injected(key) and (key in known or takes_any):
                passed[key] = converted(value, hints_of(method).get(key))
        for key, parameter in known.items():
            if is_injected(key):
                value = self.injected(key, request)
                # Its own default says better what to do without it.
                if value is not None or parameter.default is inspect.Parameter.empty:
                    passed[key] = value
        # A `Field` that was not passed stands for its default.
        for key, parameter in known.items():
            if key not in passed and is_field(parameter.default):
                default = field_default(parameter.default)
                if default is not Undefined:
                    passed[key] = default
        result = method(**passed)
        return await result if inspect.isawaitable(result) else result

    def apply_settings(self, request):
        settings = request.get("settings")
        if settings is None:
            settings = json.loads(os.environ.get("TENON_SETTINGS") or "{}")
        model = getattr(self.tools, "Valves", None)
        if isinstance(model, type):
            self.tools.valves = model(**settings)

    def injected(self, key, request):
        name = key.strip("_")
        if name == "event_emitter":
            return self.emitter(request.get("id"))
        if name == "event_call":
            return self.unanswered
        if name == "user":
            return self.user(request)
        return (request.get("context") or {}).get(name)

    def emitter(self, call_id):
        async def emit(event):
            self.send({"id": call_id, "event": plain(event)})

        return emit

    async def unanswered(self, event):
        """Questions to the page are not supported: nobody answers."""
        return None

    def user(self, request):
        user = dict(request.get("user") or {})
        model = getattr(self.tools, "UserValves", None)
        if isinstance(model, type):
            user["valves"] = model(**(user.get("valves") or {}))
        return user


def converted(value, hint):
    """An object as the pydantic model that the method asks for."""
    if isinstance(value, dict) and isinstance(hint, type) and hasattr(hint, "model_json_schema"):
        return hint(**value)
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint(value)
    return value


def protected_output():
    """Standard output for the protocol alone: whatever the code prints goes to standard error."""
    own = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return os.fdopen(own, "w", encoding="utf-8")


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("--describe", "--serve"):
        sys.exit("usage: python_runner.py --describe|--serve FILE")
    mode, path = sys.argv[1], os.path.abspath(sys.argv[2])
    # It holds for this process and those of `multiprocessing`, not for programs that a tool starts.
    os.environ.pop("PYTHONSAFEPATH", None)
    output = protected_output()
    if mode == "--describe":
        output.write(json.dumps(describe(path), ensure_ascii=False) + "\n")
        return
    try:
        server = Server(path, output)
    except BaseException as error:
        with open(path, encoding="utf-8-sig") as file:
            source = file.read()
        output.write(json.dumps({"ready": False, "error": fault(error, path, source)}) + "\n")
        sys.exit(1)
    server.run(sys.stdin)


if __name__ == "__main__":
    main()
