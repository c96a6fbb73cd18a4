"""A project of run folders with a secret in every place that a reader looks at.

The secrets are drawn from a seed and put together from parts, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import itertools
import json
import random
import sqlite3
import string
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from tests.readers.formats import event_writer as events
from tests.readers.formats import wandb_writer as wandb

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits

# (parts of the prefix, alphabet, length) of keys that show themselves by their form.
SHAPES = (
    (("gh", "p_"), ALNUM, 36), (("lin", "_api_"), ALNUM, 40), (("dckr", "_pat_"), ALNUM, 27),
    (("shp", "at_"), HEX, 32), (("dp", ".pt."), ALNUM, 43), (("NR", "AK-"), UPPER, 27), (("fig", "d_"), ALNUM, 40),
    (("h", "f_"), ALNUM, 34), (("sk", "-proj-"), ALNUM, 48), (("sk", "-ant-api03-"), ALNUM, 93),
    (("AK", "IA"), UPPER, 16), (("AI", "za"), ALNUM, 35), (("xox", "b-"), ALNUM, 40), (("gl", "pat-"), ALNUM, 20),
    (("npm", "_"), ALNUM, 36), (("pypi", "-AgEIcHl"), ALNUM, 90), (("da", "pi"), HEX, 32), (("gs", "k_"), ALNUM, 52),
    (("hv", "s."), ALNUM, 24), (("dop", "_v1_"), HEX, 64), (("sk", "_live_"), ALNUM, 24), (("r", "8_"), ALNUM, 37),
    (("github", "_pat_"), ALNUM, 82), (("gl", "sa_"), ALNUM, 41), (("psc", "ale_tkn_"), ALNUM, 43),
    (("PM", "AK-"), "", 0), (("sntry", "s_"), ALNUM, 70), (("ps", "cale_pw_"), ALNUM, 43), (("LT", "AI"), ALNUM, 20),
    (("xkey", "sib-"), HEX, 64), (("rpa", "_"), UPPER, 46), (("tgp", "_v1_"), ALNUM, 43),
    (("wandb", "_v1_"), ALNUM, 77), (("sq0", "atp-"), ALNUM, 22), (("ATA", "TT3"), ALNUM, 186),
    (("nv", "api-"), ALNUM, 64), (("tv", "ly-"), ALNUM, 32),
)  # fmt: skip

# Names of config keys; what stands under them has no telling form.
NAMES = (
    "db_password", "smtp_passwd", "ssl_passphrase", "door_passcode", "pass", "smtp_pass", "auth", "bearer", "jwt",
    "key", "login_key", "webhook", "session_cookie", "client-key-data", "api_key", "wandb_api_key", "hf_token",
    "client_secret", "access_token", "aws_secret_access_key", "private_key", "credentials", "refresh_token",
    "password", "mysql_pwd", "signing_key", "bot_token", "webhook_url", "openaiApiKey", "SMTP_PASSWORD",
)  # fmt: skip


@dataclass
class Vault:
    """Hands out secrets and remembers where each was put."""

    seed: int = 15
    planted: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._draw = random.Random(self.seed)
        self._shapes = itertools.cycle(SHAPES)
        self._names = itertools.cycle(NAMES)

    def drawn(self, length: int, alphabet: str = ALNUM) -> str:
        """Random text with digits, letters and, where the alphabet has them, capitals in it."""
        body = "".join(self._draw.choice(alphabet) for _ in range(length - 4))
        return f"{body[:3]}7{body[3:]}4" + ("aF" if alphabet == ALNUM else "E2" if alphabet == UPPER else "e2")

    def token(self, place: str) -> str:
        """A key that shows itself by its form."""
        prefix, alphabet, length = next(self._shapes)
        body = self.drawn(length, alphabet) if length else f"{self.drawn(24, HEX)}-{self.drawn(34, HEX)}"
        return self.kept("".join(prefix) + body, place)

    def pair(self, place: str) -> tuple[str, str]:
        """A config key and a value that is secret because of it."""
        name = next(self._names)
        word = name.lower()
        if word == "key":
            return name, self.kept(self.drawn(40, HEX), f"{place}: {name}")
        if word == "auth":
            login = base64.b64encode(f"ada:{self.drawn(14)}".encode()).decode()
            return name, self.kept(login, f"{place}: {name}")
        secret = self.kept(self.drawn(24), f"{place}: {name}")
        return name, f"https://hooks.example.org/in/{secret}" if "webhook" in word else secret

    def kept(self, secret: str, place: str) -> str:
        """Remember a secret."""
        assert secret not in self.planted
        self.planted[secret] = place
        return secret

    def leaks(self, text: str) -> list[str]:
        """Where the secrets were planted of which the text shows the beginning."""
        return [place for secret, place in self.planted.items() if secret[:20] in text]


def rising(rows: int = 30) -> Iterator[tuple[int, float]]:
    """Steps and a return that climbs."""
    return ((100 * (i + 1), 5.0 * i) for i in range(rows))


def csv(columns: list[str], rows: int = 30) -> str:
    """A table of steps, returns, and further columns of numbers."""
    lines = [",".join(columns)]
    lines += [",".join([str(step), str(value), *["0.5"] * (len(columns) - 2)]) for step, value in rising(rows)]
    return "\n".join(lines) + "\n"


def plant(root: Path, vault: Vault) -> list[Path]:
    """Write the project and return what can be read in it as a run."""
    makers = (solver, zoo, tensorboard, console, wandb_run, mlflow, trackio, hydra, rllib, trainer, d3rlpy, torchrl,
              mlagents, json_lines, damaged, notebook, sample_factory, dumps)  # fmt: skip
    return [maker(root, vault) for maker in makers]


def put(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def pairs(vault: Vault, place: str, count: int) -> dict[str, str]:
    """Config keys with their secrets."""
    return dict(vault.pair(place) for _ in range(count))


def nested(vault: Vault, place: str) -> dict[str, object]:
    """A config with secrets at several depths, in lists, and in keys."""
    return {
        **pairs(vault, place, 8),
        "deep": {"deeper": pairs(vault, f"{place} nested", 6)},
        "services": [pairs(vault, f"{place} in a list", 3)],
        "passwords": [vault.kept(vault.drawn(12), f"{place}: passwords")],
        "api_keys": {"judge": vault.kept(vault.drawn(24), f"{place}: api_keys.judge")},
        "auths": {"registry": {"auth": base64.b64encode(f"ada:{vault.drawn(20)}".encode()).decode()}},
        "login": {"auth": ["ada", vault.kept(vault.drawn(12), f"{place}: auth pair")]},
        "args": ["--api-key", vault.kept(vault.drawn(24), f"{place}: argument")],
        "note": f"uses {vault.token(f'{place}: text')} for it",
        f"net_{vault.token(f'{place}: key')}": 3,
    }


def log_lines(vault: Vault, place: str) -> list[str]:
    """Lines of a console with secrets in every way in which they are printed."""
    name, value = vault.pair(f"{place} export")
    flag, flag_value = vault.pair(f"{place} flag")
    key40 = vault.kept(vault.drawn(40, HEX), f"{place}: W&B's prompt")
    user = vault.kept(vault.drawn(12), f"{place}: curl user")
    shown = vault.kept(vault.drawn(16), f"{place}: sshpass in a command")
    listed = pairs(vault, f"{place} dict", 5)
    spaces = ", ".join(f"{k.replace('-', '_')}='{v}'" for k, v in pairs(vault, f"{place} Namespace", 5).items())
    return [
        f"export {name.upper()}={value}",
        "wandb: Paste an API key from your profile and hit enter, or press ctrl+c to quit:",
        key40,
        f"$ python train.py --lr 0.1 --seed 1 --env_id CartPole-v1 --{flag} {flag_value} --batch_size 64",
        f"$ python train.py --gamma 0.9 --seed 1 --before 'sshpass -p {shown} ssh host' --n_epochs 4",
        f"$ python train.py --tau 0.9 --seed 1 --fetch 'curl -u ada:{user} https://host' --n_epochs 4",
        f"Namespace(lr=0.1, seed=1, gamma=0.99, {spaces})",
        "config: " + repr({"learning_rate": 0.1, "n_steps": 5, "seed": 3, **listed}),
        f"WARNING: cloning https://ada:{vault.kept(vault.drawn(14), f'{place}: address')}@host.org/repo.git",
        f"UserWarning: token {vault.token(f'{place}: warning')} expires",
        "x" * 960 + f" ERROR: cut {vault.token(f'{place}: long line')}",
    ]


def crash(vault: Vault, place: str) -> list[str]:
    """A traceback that ends a log."""
    return [
        "Traceback (most recent call last):",
        '  File "train.py", line 7, in <module>',
        f"    client = Client('{vault.token(f'{place}: source line')}')",
        f"RuntimeError: 401 for key {vault.token(f'{place}: exception')} of the judge",
    ]


def solver(root: Path, vault: Vault) -> Path:
    """gymnasium-solver's folder."""
    run = root / "runs" / f"local_{vault.token('solver: folder')}"
    config = {"env_id": "CartPole-v1", "algo_id": "ppo", "n_envs": 1, **nested(vault, "solver: config.json")}
    put(run / "config.json", json.dumps(config))
    columns = ["train/cnt/total_env_steps", "train/roll/ep_rew/mean", f"train/{vault.token('solver: column')}"]
    put(run / "metrics.csv", csv(columns))
    put(run / "run.log", "\n".join([*log_lines(vault, "solver: run.log"), *crash(vault, "solver: run.log")]))
    reason = f"stopped by {vault.token('solver: status.json')}"
    put(run / "status.json", json.dumps({"state": "crashed", "reason": reason, "pid": 1, "start": 1.0}))
    saved = run / "checkpoints" / f"epoch_{vault.token('solver: checkpoint')}" / "metrics.json"
    put(saved, json.dumps({"train/cnt/total_env_steps": 100, f"m_{vault.token('solver: checkpoint metric')}": 1.0}))
    put(run / "requirements.txt", f"git+https://{vault.token('solver: requirements')}@github.com/a/b.git\n")
    return run


def zoo(root: Path, vault: Vault) -> Path:
    """Stable-Baselines3 with YAML, a monitor file and a saved model."""
    run = root / "sb3"
    lines = [f"{key}: {value}" for key, value in pairs(vault, "sb3: args.yml", 8).items()]
    blocks = ["passwords:", f"  - {vault.kept(vault.drawn(12), 'sb3: block list')}", "nested:"]
    blocks += [f"  - [api_key, {vault.kept(vault.drawn(24), 'sb3: pair in YAML')}]"]
    put(run / "args.yml", "\n".join(["algo: ppo", "learning_rate: 0.1", *lines, *blocks]) + "\n")
    put(run / "progress.csv", csv(["time/total_timesteps", "rollout/ep_rew_mean", f"x/{vault.token('sb3: column')}"]))
    env = f"Env_{vault.token('sb3: env id')}-v0"
    episodes = "\n".join(f"{value},10,{step}.0" for step, value in rising())
    put(run / "0.monitor.csv", "#" + json.dumps({"t_start": 1.0, "env_id": env}) + f"\nr,l,t\n{episodes}\n")
    put(run / f"model_{vault.token('sb3: checkpoint')}.pt", "")
    return run


def tensorboard(root: Path, vault: Vault) -> Path:
    """Event files: tags, texts, the file's own name."""
    run = root / "events" / f"PPO_{vault.token('events: folder')}"
    rows = "\n".join(f"|{key}|{value}|" for key, value in pairs(vault, "events: text", 8).items())
    tags = [f"losses/{vault.token('events: tag')}" for _ in range(3)]
    data = events.version() + events.record(
        events.event(events.text("hyperparameters", f"|param|value|\n|-|-|\n{rows}"))
    )
    for step, value in rising():
        found = [events.simple("charts/episodic_return", value), *(events.simple(tag, 0.1) for tag in tags)]
        data += events.record(events.event(*found, step=step))
    run.mkdir(parents=True)
    (run / f"events.out.tfevents.1670000000.{vault.token('events: host')}.1.0").write_bytes(data)
    return run


def console(root: Path, vault: Vault) -> Path:
    """A console log alone."""
    run = root / "console" / f"train_{vault.token('console: file')}.log"
    metric = f"actor/{vault.token('console: metric').replace('.', '_')}"
    steps = [f"step:{step} - critic/score/mean:{value} - {metric}:0.5" for step, value in rising()]
    put(run, "\n".join([*log_lines(vault, "console"), *steps, *crash(vault, "console")]))
    return run


def wandb_run(root: Path, vault: Vault) -> Path:
    """W&B's run folder."""
    run = root / "wandb" / "run-20260101_000000-abcd1234"
    wrapped = [f"{key}:\n    desc: null\n    value: {value}" for key, value in pairs(vault, "wandb: yaml", 8).items()]
    put(run / "files" / "config.yaml", "\n".join(["lr:\n    desc: null\n    value: 0.1", *wrapped]) + "\n")
    meta = {
        "program": f"train_{vault.token('wandb: program')}.py",
        "args": ["--hf_token", vault.pair("wandb: args")[1]],
    }
    put(run / "files" / "wandb-metadata.json", json.dumps(meta))
    put(run / "files" / "output.log", "\n".join(log_lines(vault, "wandb: output.log")))
    name = f"train/{vault.token('wandb: metric')}"
    records = [wandb.header()]
    config = [(key, json.dumps(value)) for key, value in pairs(vault, "wandb: binary config", 6).items()]
    records.append(wandb.record(wandb.CONFIG, wandb.items(config)))
    records += [
        wandb.history({"_step": str(step), "global_step": str(step), "episode_return": str(value), name: "0.5"})
        for step, value in rising()
    ]
    records.append(wandb.output(f"RuntimeError: bad {vault.token('wandb: console')}\n"))
    (run / "run-abcd1234.wandb").write_bytes(wandb.log(records))
    return run


def mlflow(root: Path, vault: Vault) -> Path:
    """MLflow's file store."""
    run = root / "mlruns" / "0" / "f0e1d2c3"
    put(run / "meta.yaml", f"run_id: run_{vault.token('mlflow: id')}\nstatus: 3\nstart_time: 1\n")
    for key, value in pairs(vault, "mlflow: parameter", 8).items():
        put(run / "params" / key, value)
    put(run / "params" / f"p_{vault.token('mlflow: parameter name')}", "1")
    lines = "\n".join(f"1000 {value} {step}" for step, value in rising())
    put(run / "metrics" / "episode_return", lines)
    put(run / "metrics" / f"loss_{vault.token('mlflow: metric')}", lines)
    put(run / "tags" / "mlflow.runName", vault.token("mlflow: tag"))
    return run


def trackio(root: Path, vault: Vault) -> Path:
    """Trackio's database."""
    path = root / "trackio" / "project.db"
    path.parent.mkdir(parents=True)
    name, metric = vault.token("trackio: run"), f"loss/{vault.token('trackio: metric')}"
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE metrics (run_name TEXT, step INTEGER, timestamp TEXT, metrics TEXT)")
        database.execute("CREATE TABLE configs (run_name TEXT, config TEXT)")
        for step, value in rising():
            row = json.dumps({"episode_return": value, metric: 0.5})
            database.execute("INSERT INTO metrics VALUES (?, ?, '2026-01-01T00:00:00', ?)", (name, step, row))
        config = json.dumps({"lr": 0.1, **pairs(vault, "trackio: config", 8)})
        database.execute("INSERT INTO configs VALUES (?, ?)", (name, config))
    return path


def hydra(root: Path, vault: Vault) -> Path:
    """Hydra's output folder."""
    run = root / "outputs" / "2026-01-01"
    config = [f"  {key}: '{value}'" for key, value in pairs(vault, "hydra: config", 8).items()]
    put(run / ".hydra" / "config.yaml", "\n".join(["lr: 0.1", "logger:", *config]) + "\n")
    overrides = [f"- +{key}={value}" for key, value in pairs(vault, "hydra: overrides", 6).items()]
    put(run / ".hydra" / "overrides.yaml", "\n".join(["- lr=0.1", *overrides]) + "\n")
    failed = repr([f"lr=0.1 {key}={value}" for key, value in pairs(vault, "hydra: failed", 2).items()])
    put(run / "main.log", f"Error executing job with overrides: {failed}\n" + "\n".join(crash(vault, "hydra")))
    put(run / "progress.csv", csv(["global_step", "episode_return"]))
    return run


def rllib(root: Path, vault: Vault) -> Path:
    """An RLlib trial."""
    run = root / "ray" / "PPO_CartPole-v1_0_2026-01-01"
    put(run / "params.json", json.dumps({"lr": 0.1, **nested(vault, "rllib: params.json")}))
    name = f"info/{vault.token('rllib: metric')}"
    rows = [json.dumps({"timesteps_total": s, "episode_reward_mean": v, name: 1.0}) for s, v in rising()]
    put(run / "result.json", "\n".join(rows))
    put(run / "error.txt", "\n".join(crash(vault, "rllib: error.txt")))
    return run


def trainer(root: Path, vault: Vault) -> Path:
    """Hugging Face's trainer state."""
    run = root / "trl"
    name = f"rewards/{vault.token('trl: metric')}"
    history = [{"step": step, "reward": value, name: value} for step, value in rising()]
    folder = f"checkpoint-{vault.token('trl: checkpoint')}"
    put(run / folder / "trainer_state.json", json.dumps({"log_history": history, "max_steps": 3000}))
    put(run / "training_args.json", json.dumps({"learning_rate": 0.1, **pairs(vault, "trl: arguments", 5)}))
    return run


def d3rlpy(root: Path, vault: Vault) -> Path:
    """d3rlpy's folder, named after the data set."""
    run = root / f"CQL_{vault.token('d3rlpy: data set')}_1"
    put(run / "params.json", json.dumps({"gamma": 0.9, **pairs(vault, "d3rlpy: params", 4)}))
    rows = "\n".join(f"{step // 100},{step},{value}" for step, value in rising())
    put(run / "loss.csv", rows)
    put(run / f"{vault.token('d3rlpy: metric')}.csv", rows)
    return run


def torchrl(root: Path, vault: Vault) -> Path:
    """TorchRL's CSV logger."""
    run = root / "torchrl"
    rows = "\n".join(f"{step},{value}" for step, value in rising())
    put(run / "scalars" / "train_reward.csv", rows)
    put(run / "scalars" / f"m_{vault.token('torchrl: metric')}.csv", rows)
    return run


def mlagents(root: Path, vault: Vault) -> Path:
    """Unity's results: the behaviour is the environment."""
    run = root / "mlagents"
    name = f"Walker_{vault.token('mlagents: behaviour')}"
    secrets = [f"      {key}: {value}" for key, value in pairs(vault, "mlagents: configuration", 4).items()]
    text = ["behaviors:", f"  {name}:", "    trainer_type: ppo", "    hyperparameters:", *secrets]
    put(run / "configuration.yaml", "\n".join(text) + "\n")
    data = events.version()
    for step, value in rising():
        data += events.record(events.event(events.simple("Environment/Cumulative Reward", value), step=step))
    (run / name).mkdir()
    (run / name / "events.out.tfevents.1670000000.host.1.0").write_bytes(data)
    saved = {"steps": 100, "file_path": f"results/{vault.token('mlagents: checkpoint')}.onnx", "reward": 1.0}
    put(run / "run_logs" / "training_status.json", json.dumps({name: {"checkpoints": [saved]}}))
    return run


def json_lines(root: Path, vault: Vault) -> Path:
    """Rows of metrics as JSON."""
    run = root / "rows" / f"{vault.token('rows: folder')}"
    name = f"train/{vault.token('rows: metric')}"
    put(run / "metrics.jsonl", "\n".join(json.dumps({"step": s, "episode_return": v, name: 1.0}) for s, v in rising()))
    return run


def damaged(root: Path, vault: Vault) -> Path:
    """Files that cannot be parsed: what is said about them quotes nothing."""
    run = root / "damaged"
    put(run / "config.yaml", f"lr: [0.1\napi_key: {vault.pair('damaged: yaml')[1]}\n\t- {vault.token('damaged: yaml')}")
    put(run / "params.json", f'{{"lr": 0.1, "password": "{vault.kept(vault.drawn(12), "damaged: json")}", oops')
    put(run / "progress.csv", csv(["global_step", "episode_return"]) + f"{vault.token('damaged: cell')},,,\n")
    put(run / f"{vault.token('damaged: file')}_config.json", "{")
    return run


def notebook(root: Path, vault: Vault) -> Path:
    """The output of a notebook."""
    run = root / "notebook" / "train.ipynb"
    lines = [f"step:{step} - critic/score/mean:{value} - actor/entropy:0.5\n" for step, value in rising()]
    lines += [line + "\n" for line in [*log_lines(vault, "notebook"), *crash(vault, "notebook")]]
    cell = {"cell_type": "code", "source": [], "outputs": [{"output_type": "stream", "name": "stdout", "text": lines}]}
    put(run, json.dumps({"cells": [cell], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}))
    return run


def sample_factory(root: Path, vault: Vault) -> Path:
    """Sample Factory's folder."""
    run = root / "sample_factory"
    env = f"doom_{vault.token('sample factory: environment')}"
    put(run / "config.json", json.dumps({"env": env, "algo": "APPO", **pairs(vault, "sample factory: config", 4)}))
    data = events.version()
    for step, value in rising():
        data += events.record(events.event(events.simple("reward/reward", value), step=step))
    (run / ".summary" / "0").mkdir(parents=True)
    (run / ".summary" / "0" / "events.out.tfevents.1670000000.host.1.0").write_bytes(data)
    return run


def dumps(root: Path, vault: Vault) -> Path:
    """Arguments as programs print them into text files: Namespace, lines, TOML, a Python dict."""
    run = root / "dumps"
    spaces = ", ".join(f"{k.replace('-', '_')}='{v}'" for k, v in pairs(vault, "dumps: Namespace", 4).items())
    put(run / "args.txt", f"Namespace(lr=0.1, seed=1, gamma=0.9, {spaces})\n")
    lines = [f"{key}: {value}" for key, value in pairs(vault, "dumps: lines", 4).items()]
    put(run / "config.txt", "\n".join(["lr: 0.1", "seed: 1", "gamma: 0.99", "batch_size: 4", *lines]) + "\n")
    toml = [f'{key} = "{value}"' for key, value in pairs(vault, "dumps: TOML", 4).items()]
    put(run / "train_config.toml", "\n".join(["lr = 0.1", *toml]) + "\n")
    literal = {"lr": 0.1, "seed": 1, "gamma": 0.9, **pairs(vault, "dumps: literal", 4)}
    put(run / "params.txt", repr(literal) + "\n")
    command = " ".join(f"--{key} {value}" for key, value in pairs(vault, "dumps: command", 4).items())
    put(run / "command.txt", f"python train.py --lr 0.1 --seed 1 --gamma 0.9 {command}\n")
    put(run / "progress.csv", csv(["global_step", "episode_return"]))
    return run
