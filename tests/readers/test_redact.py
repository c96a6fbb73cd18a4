"""Secrets disappear, everything that only looks like one stays byte for byte.

The secrets are drawn at run time, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import base64
import random
import re
import string
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlclinic.readers.redaction import shapes
from rlclinic.readers.redaction.redact import redact, redact_value, redacted_head, secrets_in
from rlclinic.reference.table_file import load_table
from tests.growth import grows_linearly

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"


def drawn(length: int, alphabet: str = ALNUM, *, seed: int = 7) -> str:
    """A reproducible random word that has a digit, so that it looks like what issuers hand out."""
    generator = random.Random(f"{seed}-{length}-{alphabet}")
    word = "".join(generator.choice(alphabet) for _ in range(length - 1))
    return word + "7"


KEY40 = drawn(40, HEX)
JWT = ".".join(["ey" + "J" + drawn(33), drawn(120), drawn(43, ALNUM + "-_")])
BASIC = base64.b64encode(b"ada:" + drawn(12).encode()).decode()
PEM_BODY = "\n" + "\n".join(drawn(64, ALNUM + "+/", seed=i) for i in range(12)) + "\n"
PEM = "-----{} RSA PRIVATE" + " KEY-----"

# text before, the secret, text after
SECRETS: dict[str, tuple[str, str, str]] = {
    "openai": ("using ", "sk" + "-" + drawn(48), " for the judge"),
    "openai project": ("key=", "sk" + "-proj-" + drawn(60, ALNUM + "-_"), ""),
    "openai project in a message": ("Incorrect API key provided: ", "sk" + "-proj-" + drawn(40), ", sorry"),
    "anthropic": ("client(", "sk" + "-ant-api03-" + drawn(93, ALNUM + "-_"), ")"),
    "openrouter": ("with ", "sk" + "-or-v1-" + drawn(64, HEX), " now"),
    "hugging face": ("Token is valid: ", "hf" + "_" + drawn(34), "."),
    "github classic": ("git clone with ", "gh" + "p_" + drawn(36), " done"),
    "github oauth": ("", "gh" + "o_" + drawn(36), ""),
    "github fine-grained": ("x ", "github" + "_pat_" + drawn(22) + "_" + drawn(59), " y"),
    "gitlab": ("auth ", "gl" + "pat-" + drawn(20, ALNUM + "-_"), " ok"),
    "aws key id": ("id ", "AK" + "IA" + drawn(16, string.ascii_uppercase + string.digits), " region us-east-1"),
    "aws temporary key id": ("[", "AS" + "IA" + drawn(16, string.ascii_uppercase + string.digits), "]"),
    "aws secret key": ("aws_secret_access_key = ", drawn(40, ALNUM + "/+"), "\nregion = us-east-1"),
    "aws key id by name": ("AWS_ACCESS_KEY_ID=", drawn(20, string.ascii_uppercase), " "),
    "google": ("maps?key=", "AI" + "za" + drawn(35, ALNUM + "-_"), "&v=3"),
    "google oauth": ("got ", "ya" + "29." + drawn(60, ALNUM + "-_"), " back"),
    "slack bot": ("notify ", "xox" + "b-" + drawn(12, string.digits) + "-" + drawn(24), " #runs"),
    "slack hook": ("https://hooks.slack.com/services/", f"T{drawn(8)}/B{drawn(8)}/{drawn(24)}", " sent"),
    "discord hook": ("https://discord.com/api/webhooks/1234567890/", drawn(68, ALNUM + "-_"), " sent"),
    "telegram bot": ("https://api.telegram.org/bot", drawn(10, string.digits) + ":AA" + drawn(33), "/getMe"),
    "telegram bot alone": ("bot ", drawn(10, string.digits) + ":AA" + drawn(33), " polls"),
    "terraform": ('credentials "app.terraform.io" {\n  ', drawn(14) + ".atlas" + "v1." + drawn(67), "\n}"),
    "azure client": ("app ", "aB3" + "8Q~" + drawn(34), " expired"),
    "mailchimp": ("list ", drawn(32, HEX) + "-us" + "12", " synced"),
    "maxmind": ("geo ", drawn(6) + "_" + drawn(29) + "_mm" + "k", " ok"),
    "discord bot": ("bot ", "MT" + drawn(24) + "." + drawn(6) + "." + drawn(38), " ready"),
    "grafana": ("push ", "eyJr" + "Ijoi" + drawn(80), " sent"),
    "harness": ("with ", "pat" + "." + drawn(22) + "." + drawn(24) + "." + drawn(20), " now"),
    "teams hook": ("https://a.webhook.office.com/webhookb2/", f"{drawn(36)}@{drawn(36)}/IncomingWebhook/a", " sent"),
    "feishu hook": ("https://open.feishu.cn/open-apis/bot/v2/hook/", drawn(36), " sent"),
    "wecom hook": ("https://qyapi.weixin.qq.com/cgi-bin/webhook/send?key=", drawn(36), " sent"),
    "zapier hook": ("https://hooks.zapier.com/hooks/catch/", "1234567/" + drawn(7), " sent"),
    "stripe": ("charge ", "sk" + "_live_" + drawn(24), " failed"),
    "sendgrid": ("mail ", "SG" + "." + drawn(22, ALNUM + "-_") + "." + drawn(43, ALNUM + "-_"), " sent"),
    "twilio": ("sid ", "SK" + drawn(32, HEX), " used"),
    "npm": ("//registry/:_auth ", "npm" + "_" + drawn(36), ""),
    "pypi": ("upload ", "pypi" + "-AgE" + drawn(120, ALNUM + "-_"), " ok"),
    "azure storage": ("AccountName=runs;AccountKey=", drawn(86, ALNUM + "+/") + "==", ";EndpointSuffix=core"),
    "azure shared access": ("https://x.blob.core/c?sv=2022-11-02&sig=", drawn(43, ALNUM) + "%3D", "&se=2026"),
    "aws signed url": ("https://b.s3/x?X-Amz-Date=1&X-Amz-Signature=", drawn(64, HEX), "&a=b"),
    "databricks": ("host=https://adb token ", "da" + "pi" + drawn(32, HEX), " set"),
    "groq": ("", "gs" + "k_" + drawn(52), " "),
    "wandb in the environment": ("export WANDB_API_KEY=", KEY40, " WANDB_MODE=online"),
    "wandb login": ("$ wandb login ", KEY40, "\n"),
    "wandb login with an option": ("wandb login --relogin ", KEY40, ""),
    "key in an exception": ("ValueError: invalid key=", drawn(24), " for this account"),
    "key in an address": ("GET https://api.example.com/v1?key=", drawn(32), "&alt=json"),
    "wandb login in code": ('wandb.login(key="', KEY40, '")'),
    "wandb in netrc": ("machine api.wandb.ai login user password ", KEY40, "\n"),
    "wandb in yaml": ("wandb:\n  project: lander\n  api_key: ", KEY40, "\n  mode: online"),
    "wandb config.yaml": ("api_key:\n    desc: null\n    value: ", KEY40, "\nlr:\n"),
    "wandb key after a version": ("", "wandb" + "_v1_" + drawn(77), " stored"),
    "neptune": ("NEPTUNE_API_TOKEN=", "ey" + "JhcGlfYWRkcmVzcyI6" + drawn(120) + "==", "\n"),
    "comet": ('COMET_API_KEY: "', drawn(25), '"'),
    "clearml": ("access_key = ", drawn(20, string.ascii_uppercase + string.digits), "\n"),
    "jwt": ("cookie set, ", JWT, " accepted"),
    "bearer": ("curl -H 'Accept: x' -H 'X: Bearer ", drawn(32), "' https://host"),
    "authorization header": ("Authorization: Bearer ", drawn(24), "\r\nAccept: */*"),
    "authorization in a dict": ("{'Authorization': 'Token ", drawn(40, HEX), "', 'Accept': '*'}"),
    "basic authorization": ("Authorization: Basic ", BASIC, ""),
    "basic without a name": ("header Basic ", BASIC, " sent"),
    "api key header": ("X-Api-Key: ", drawn(32), "\n"),
    "password in a url": ("postgresql://ada:", "pa55-w0rd", "@db.host:5432/optuna"),
    "password in a url without a user": ("redis://:", "hunter2", "@10.0.0.1:6379/0"),
    "token in a url": ("https://", drawn(40), "@github.com/me/repo.git"),
    "token after a fixed user": ("https://oauth2:", drawn(20), "@gitlab.com/me/repo.git"),
    "jupyter token": ("http://localhost:8888/?token=", drawn(48, HEX), "\n"),
    "cookie header": ("Cookie: ", "session=abc; csrf=" + drawn(20), "\nHost: x"),
    "private key": (PEM.format("BEGIN"), PEM_BODY, PEM.format("END")),
    "private key in json": ('"' + PEM.format("BEGIN"), PEM_BODY.replace("\n", "\\n"), PEM.format("END") + '",'),
    "password in yaml": ("db:\n  password: ", "hunter2", "\n  user: ada"),
    "password of words in yaml": ("password: ", "correct horse battery staple", "\nuser: ada"),
    "password in json": ('{"user": "ada", "passwd": "', "hun,ter 2", '", "port": 1}'),
    "password in the environment": ("SMTP_PASSWORD=", "s3cr;et!", " SMTP_PORT=587"),
    "mail password": ("EMAIL_PASSWORD=", "abcd efgh ijkl mnop", " python train.py"),
    "mail pass": ("smtp_pass: ", "Tr0ub4dor&3", ""),
    "password as a flag": ("train.py --db-password ", "hunter2", " --seed 1"),
    "password as a flag with equals": ("train.py --password=", "hunter", " --seed 1"),
    "password in a repr": ("Namespace(lr=0.1, password='", "hunter2", "', seed=1)"),
    "password in xml": ("<user>a</user><password>", "hunter2", "</password>"),
    "password of digits": ("password: ", "90817263", "\n"),
    "pwd": ("MYSQL_PWD=", "hunter2", "\n"),
    "flag": ("python run.py --api-key ", drawn(32), " --steps 10"),
    "flag in an argument list": ('"args": [\n  "--api_key",\n  "', drawn(32), '",\n  "--seed"]'),
    "password as a block": ("password: |\n  ", "hunter2", "\nuser: ada"),
    "pair": ("[('user', 'ada'), ('password', '", "hunter2", "')]"),
    "escaped pair": ('[\\"--api-key\\", \\"', drawn(24), '\\"]'),
    "key in a json log": ('{\\"openai_api_key\\": \\"', drawn(32), '\\", \\"n\\": 1}'),
    "key in a dict": ("{'api_key': '", drawn(20), "', 'lr': 0.001}"),
    "key in an rl-zoo pair": ("  - [api_key, ", drawn(24), "]\n"),
    "key in a hyperparameter table": ("|param|value|\n|api_key|", drawn(24), "|\n|seed|1|"),
    "key in a hydra override": ("['+logger.api_key=", drawn(24), "', 'seed=1']"),
    "camel case key": ('"accessToken": "', drawn(30), '"'),
    "client secret": ("client_secret: ", drawn(30, ALNUM + "~-"), "\n"),
    "environment assignment": ('os.environ["HF_TOKEN"] = "', drawn(37), '"'),
    "token with a version": ("auth_token_2=", drawn(24), ";"),
    "secret next to its twin": ("secret_key=", drawn(24), ", seed=42"),
    "curl user": ("curl -s -u ada:", "hunter2", " https://host"),
    "sshpass": ("sshpass -p ", "hunter2", " ssh host"),
    "vault": ("got ", "hv" + "s." + drawn(24), " back"),
    "long key": ("api_key: ", drawn(3000), "\nseed: 1"),
    "password behind a name": ("db_password: ", "hunter2", "\n"),
    "bare pass": ("  user: ada\n  pass: ", "hunter2x", "\n"),
    "pass behind another setting": ("lr=0.1 pass=", "hunter2x", " seed=1"),
    "several passwords": ("passwords: [", "'hunter2', 'swordfish'", "]"),
    "several passwords in YAML": ("passwords:", "\n  - hunter2\n  - swordfish", "\nlr: 0.1"),
    "several keys": ('"api_keys": {', f'"judge": "{drawn(24)}"', "}"),
    "docker login": ('"auth": "', BASIC, '"'),
    "login of requests": ("get(url, auth=('ada', '", "hunter2", "'))"),
    "user and password": ("auth: ", "ada:hunter2", "\n"),
    "bearer by name": ("bearer: ", drawn(32), "\n"),
    "opaque jwt": ("jwt=", drawn(40), " "),
    "key of W&B by its length": ("  key: ", KEY40, "\n"),
    "login key": ("login_key: ", drawn(20), "\n"),
    "webhook": ("webhook: ", "https://chat.example.org/hooks/" + drawn(16), "\n"),
    "session cookie": ("session_cookie: ", drawn(32), "\n"),
    "kubernetes": ("    client-key-data: ", drawn(200, ALNUM + "+/") + "==", "\n"),
    "wandb prompt": ("wandb: Paste an API key from your profile and hit enter:\n", KEY40, "\nstep 1"),
    "wandb prompt on one line": ("Paste an API key from your profile and hit enter, or ctrl+c: ", KEY40, "\n"),
    "inside a folder's name": ("runs/ppo_", "gh" + "p_" + drawn(36), "_seed1/metrics.csv"),
}

LOOK_ALIKES: dict[str, str] = {
    "class as a key": "invalid key=RolloutBuffer2ObservationsMean3 of the buffer",
    "run as a key": "unknown key=PPO_CartPole-v1__seed1__1700000000 in results",
    "metric as a key": "missing key: rollout/ep_rew_mean and key=trainLoss2Policy",
    "hash as a key": "cache key=" + "da39a3ee5e6b4b0d" + "3255bfef95601890" + "afd80709",
    "commit hash": "commit 50ac7252f97cf39997344237bca74162b2dc6d79",
    "commit key": "commit: 50ac7252f97cf39997344237bca74162b2dc6d79",
    "wandb run id": "wandb: Syncing run gjvwlq13 at run-20251130_144822-gjvwlq13",
    "run id": "run_id: 770cc011eb214ea997501cabcfe12f58",
    "uuid": "experiment 550e8400-e29b-41d4-a716-446655440000 started",
    "colour": "color: #ff00aa, background: 0x1f77b4",
    "long float": "step:10 - actor/entropy:1.1234567890123456 - actor/pg_loss:1.5e-09",
    "end of sequence": 'eos_token: "</s>"',
    "end of text": "'pad_token': '<|endoftext|>', 'eos_token': '<|im_end|>'",
    "token id": "pad_token_id: 151643",
    "token ids": "{'eos_token_id': 151645, 'pad_token_id': 151643}",
    "max tokens": "max_tokens: 512",
    "num tokens": "num_tokens=123456789012",
    "token metric": "token_mult_prob_error: 1.03",
    "verl timing": "timing_per_token_ms/gen:0.123456789 - state_tokens/coverage:0.700",
    "tokens per second": "tokens_per_sec_per_gpu: 12345.678",
    "tokenizer path": "tokenizer: /data/models/Qwen2.5-0.5B-Instruct/tokenizer.json",
    "tokenizer name": "tokenizer_path=Qwen/Qwen2.5-3B-Instruct",
    "tokenizer class": "Saved tokenizer class to checkpoints/global_step_372/huggingface",
    "key and value": "key: value",
    "column names": "prompt_key: prompt, reward_fn_key: data_source, image_key: images",
    "state dict key": "missing key: model.layers.0.self_attn.q_proj.weight",
    "primary key": "primary_key: run_20250515_044656",
    "seed": "seed: 1234567890123456789",
    "checksum": "sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "checksum line": "d41d8cd98f00b204e9800998ecf8427e  model.zip",
    "image": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ",
    "file name": "events.out.tfevents.1670000000.host.12345.0",
    "checkpoint": "model_12000.pt, ppo_cartpole_2000000_steps.zip",
    "environment name": "env_id: secret_santa_env",
    "environment called secret": "secret_santa_env: True",
    "no password": "password: null",
    "password none": "{'password': None, 'user': 'ada'}",
    "empty password": 'password: ""',
    "token switch": "token: true",
    "masked password": "password: ********",
    "masked url": "postgresql://ada:***@db.host:5432/optuna",
    "masked key": "Incorrect API key provided: sk-ab***********wxyz",
    "already redacted": "api_key: [redacted]",
    "placeholder": "api_key: <your key here>",
    "placeholder word": "api_key: your_api_key_1234567890",
    "dummy key of vllm": "api_key: EMPTY",
    "reference to the environment": "api_key: ${oc.env:OPENAI_API_KEY}",
    "shell reference": "docker run -e WANDB_API_KEY=$WANDB_API_KEY image",
    "lookup in code": 'api_key = os.environ["OPENAI_API_KEY"]',
    "call in code": "token = get_token(user2, cache_dir)",
    "attribute in code": "password=args.password, api_key=self.api_key",
    "argument passed on": "client = Client(api_key=api_key, token=token)",
    "type annotation": "def login(token: str, password: Optional[str] = None) -> None:",
    "optional annotation": "    password: str | None = None,\n    token: bytes | str = b'',",
    "list of names": "fields = ('user', 'password', 'host')",
    "usage": "usage: train.py [--password PASSWORD] [--api-key API_KEY] [--token TOKEN]",
    "dtype": "torch.float32, torch_dtype: torch.bfloat16",
    "working directory": "PWD=/root/project2\nOLDPWD=/home/ada/runs",
    "token file": "token_file: /home/ada/.cache/huggingface/token",
    "password file": "password_file=/run/secrets/db_password_1",
    "hf function": "hf_hub_download(repo_id='a/b')",
    "hyphenated words": "the risk-averse-agent and task-specific-reward-model-weights",
    "scikit": "sk-learn-contrib-imbalanced-learn is installed",
    "npm setting": "npm_config_cache=/root/.npm",
    "package": "pypi-server 2.0.1",
    "url with port": "View the dashboard at http://127.0.0.1:8265",
    "git address": "git+ssh://git@github.com/openai/baselines.git@ea25b9e8b234e6ee1bca43083f8f3cf974143998",
    "mail address": "mailto://ada@example.org",
    "bearer in prose": "the bearer of bad news, Bearer certificates",
    "basic in prose": "Basic Configuration of the agent",
    "cookie in prose": "the cookie: chocolate",
    "public key": "-----BEGIN PUBLIC KEY-----\nMFwwDQYJ\n-----END PUBLIC KEY-----",
    "password prompt": "Password for user ada: ",
    "password in prose": "password required to continue, password is missing",
    "learnable secret": "the secret: be patient",
    "progress bar": " 98%|█████████▊| 920/936 [44:13:02<49:17, 184.84s/it]",
    "object address": "<verl.workers.WorkerDict object at 0x7fefd2a1b3c0> actor_id=8645bd5678e6cf2f0c654a1601000000",
    "keyboard": "keyboard: dvorak2, KeyboardInterrupt",
    "access pattern": "access_key: observation",
    "word with a number": "token: version12beta, token: checkpoint-12000",
    "special token of odd form": "image_token: 'a1B2c3D4e5F6', unk_token=q8W7e6R5t4Y3",
    "next token": "next_token: ' the', token: 'Ġhello'",
    "forward pass": "forward pass: 3.2ms, backward pass: 12x4",
    "share that passes": "pass: 10/12, pass: 3.2ms, pass@1: 0.4, passes: a1b2c3d4",
    "statement": "    pass\n    key = obs2",
    "way of logging in": "auth: oauth2, auth_mode: basic, author: ada1815",
    "hash under other names": "cache_key: 50ac7252f97cf39997344237bca74162b2dc6d79",
    "webhook that is off": "webhook: disabled, webhook_url: null",
    "counted tokens": "user_tokens: 12ab34cd, session_tokens: 9f8e7d6c5b",
    "column names in a list": "keys: ['image1', 'state2'], obs_keys: [a1b2c3, d4e5f6]",
    "share without passwords": "password_free_rate: 0.25",
    "times and addresses": "12:30:45 12345678:AA, 0x1234567890:AAAA, host-us1, cache-us-east1-b",
    "versions in three parts": "MTRL.v1.2 OTHER.abcdef.ghijklmnopqrstuvwxyzabcdefg sha256~short pat.h.py API-REFERENCE",
    "hydra overrides": "['data.train_files=data/nq_search/train.parquet', 'trainer.total_epochs=15']",
}


@pytest.mark.parametrize(("before", "secret", "after"), SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_is_replaced_and_its_context_stays(before: str, secret: str, after: str) -> None:
    clean = redact(before + secret + after)

    assert secret not in clean
    assert clean.replace("\n", "") == f"{before}[redacted]{after}".replace("\n", "")
    assert clean.count("\n") == (before + secret + after).count("\n")


@pytest.mark.parametrize(
    ("prefix", "body"),
    [
        (("gh", "u_"), drawn(36)), (("gh", "s_"), drawn(36)), (("gh", "r_"), drawn(36)), (("gl", "rt-"), drawn(20)),
        (("sk", "_test_"), drawn(24)), (("rk", "_live_"), drawn(24)), (("wh", "sec_"), drawn(32)),
        (("api", "_org_"), drawn(34)), (("GOC", "SPX-"), drawn(28)), (("xa", "pp-"), "1-A" + drawn(30)),
        (("xo", "xp-"), drawn(30)), (("xa", "i-"), drawn(80)), (("pp", "lx-"), drawn(48)), (("nv", "api-"), drawn(60)),
        (("tv", "ly-"), drawn(32)), (("r", "8_"), drawn(37)), (("ls", "v2_"), "pt_" + drawn(40)),
        (("lin", "_api_"), drawn(40)), (("dckr", "_pat_"), drawn(27)), (("shp", "at_"), drawn(32, HEX)),
        (("dp", ".pt."), drawn(43)), (("NR", "AK-"), drawn(27, string.ascii_uppercase)), (("fig", "d_"), drawn(40)),
        (("dop", "_v1_"), drawn(64, HEX)), (("sk", "-admin-"), drawn(40)), (("sk", "-svcacct-"), drawn(40)),
    ],
)  # fmt: skip
def test_a_key_is_known_by_the_prefix_of_its_issuer(prefix: tuple[str, str], body: str) -> None:
    key = "".join(prefix) + body

    assert redact(f"used {key}, then") == "used [redacted], then"
    assert redact(f"not{key}") == f"not{key}"


def test_every_issuer_of_the_table_is_known() -> None:
    for name, row in load_table(Path(shapes.__file__).with_name("issuers.toml")).items():
        if "tail" in row or "before" in row:
            continue
        letters = "".join(re.findall(f"[{row['alphabet']}]", ALNUM))
        for prefix in row["prefixes"]:
            assert redact(f"a {prefix}{drawn(row['length'], letters)} b") == "a [redacted] b", name


@pytest.mark.parametrize("text", LOOK_ALIKES.values(), ids=LOOK_ALIKES.keys())
def test_a_look_alike_stays_as_it_is(text: str) -> None:
    assert redact(text) == text


@pytest.mark.parametrize(("before", "secret", "after"), SECRETS.values(), ids=SECRETS.keys())
def test_a_secret_deep_in_a_log_is_found_as_well(before: str, secret: str, after: str) -> None:
    log = "\n".join(LOOK_ALIKES.values())

    assert secret not in redact(f"{log}\n{before}{secret}{after}\n{log}")


def test_every_secret_of_a_text_is_replaced() -> None:
    first, second = drawn(30, seed=1), drawn(30, seed=2)

    assert redact(f"api_key={first} token={second}") == "api_key=[redacted] token=[redacted]"


def test_a_secret_that_was_given_away_once_is_hidden_wherever_it_is_mentioned() -> None:
    secret = "q7Rk2ZpXv9Lm4TcW"
    text = f"login_token: {secret}\nValueError: no access with {secret}, try again"
    assert secret not in redact(text)
    assert redact(f"no access with {secret}", [secret]) == "no access with [redacted]"
    assert redact("password: summer\nin summer it learns") == "password: [redacted]\nin summer it learns"


def test_config_values_lose_their_secrets_at_every_depth() -> None:
    key = drawn(40, HEX)
    config = {
        "seed": 7,
        "wandb": {"api_key": {"desc": None, "value": key}, "project": "lander"},
        "args": ["--hf-token", key, "--lr", "0.1"],
        "smtp": [{"password": "hunter"}, {"password": 123456}, {"password": None}],
        "command": f"train.py --api-key {key}",
        "pad_token": "<pad>",
    }

    assert redact_value("", config) == {
        "seed": 7,
        "wandb": {"api_key": {"desc": None, "value": "[redacted]"}, "project": "lander"},
        "args": ["--hf-token", "[redacted]", "--lr", "0.1"],
        "smtp": [{"password": "[redacted]"}, {"password": "[redacted]"}, {"password": None}],
        "command": "train.py --api-key [redacted]",
        "pad_token": "<pad>",
    }


@pytest.mark.parametrize(
    ("key", "value"),
    [("eos_token", "</s>"), ("token", 5), ("password", None), ("max_tokens", 512), ("reward_fn_key", "data_source2")],
)
def test_harmless_config_values_stay(key: str, value: object) -> None:
    assert redact_value(key, value) == value


@pytest.mark.parametrize("word", ["password", "passwd", "passphrase", "passcode"])
@pytest.mark.parametrize("before", ["db_", "smtp.", "DB_", "mail-", ""])
def test_a_key_that_ends_in_a_word_for_password_is_known(before: str, word: str) -> None:
    key = before + (word.upper() if before.isupper() else word)

    assert redact_value(key, "hunter2") == "[redacted]"
    assert redact(f"{key}: hunter2") == f"{key}: [redacted]"


def test_sections_of_secrets_and_pairs_lose_them() -> None:
    config = {"passwords": {"db": "hunter"}, "api_keys.judge": drawn(24), "auth": ["ada", "hunter"]}
    config["logger"] = [["api_key", drawn(20)], ["password", "host"]]

    assert redact_value("", config) == {
        "passwords": {"db": "[redacted]"},
        "api_keys.judge": "[redacted]",
        "auth": ["ada", "[redacted]"],
        "logger": [["api_key", "[redacted]"], ["password", "host"]],
    }


def test_keys_that_become_the_same_are_numbered() -> None:
    config = {"a_" + "gh" + "p_" + drawn(36, seed=seed): seed for seed in (1, 2)}
    config["a_[redacted] (2)"] = 3

    assert redact_value("", config) == {"a_[redacted]": 1, "a_[redacted] (2)": 2, "a_[redacted] (2) (2)": 3}


def test_what_a_line_gives_away_is_hidden_in_the_value_read_from_it() -> None:
    line = "python train.py --before 'sshpass -p hunter2 ssh host' --lr 0.1"

    assert redact_value("before", "hunter2", secrets_in(line)) == "[redacted]"
    assert redact_value("before", "use hunter2 there", secrets_in(line)) == "use [redacted] there"
    assert redact_value("before", "hunter", secrets_in(line)) == "hunter"


def test_a_text_is_cut_behind_its_secrets() -> None:
    assert redacted_head("bad key " + "gh" + "p_" + drawn(36) + " given", 20) == "bad key [redacted] g"


def test_the_given_config_is_not_changed() -> None:
    config = {"db": {"password": "hunter2"}}
    redact_value("", config)

    assert config == {"db": {"password": "hunter2"}}


def test_a_config_that_contains_itself_ends() -> None:
    config: dict[str, object] = {}
    config["again"] = config

    assert isinstance(redact_value("", config), dict)


HOSTILE = [
    "a", "token", "token=", "token='", 'api_key="', "password: ", "password=a,", "sk-", "eyJ", "eyJ.", "://a:", "://",
    "curl ", "curl -u a", "-----BEGIN PRIVATE" + " KEY-----", "AccountKey=***", "glpat-.", "SG.", "sig=", "Cookie: ",
    "wandb login ", "Bearer ", "Authorization: ", "secret_", "--api-key ", "\\", "'", "a=", "|api_key|", "xoxb-a",
    "passwords:[", "passwords:\n - a", "auth=('a','", "webhook: a://", "API key from your profile\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_line_of_one_repeated_piece_takes_linear_time(unit: str) -> None:
    assert grows_linearly(lambda size: redact((unit * (size // len(unit) + 1))[:size]), 100_000)


def test_a_hostile_line_of_a_megabyte_takes_linear_time() -> None:
    generator = random.Random(3)
    line = "".join(generator.choice(HOSTILE) for _ in range(150_000))[:1_000_000]
    assert len(line) == 1_000_000

    assert grows_linearly(lambda size: redact(line[:size]), 1_000_000)


def test_ordinary_log_text_passes_faster_than_its_words_are_counted() -> None:
    metrics = " - ".join(f"actor/metric_{i}:{i / 7:.6f} - critic/returns/part_{i}:0.1" for i in range(30))
    lines = [
        f"(TaskRunner pid=1234) step:7 - {metrics} - timing_per_token_ms/gen:0.1 - timing_per_token_ms/ref:0.2",
        "| rollout/ep_rew_mean | 123.4 |",
        "Loading tokenizer: /root/hotpotqa-agent/training/checkpoints/sft_merged",
        "2025-09-22 17:53:45,710 INFO worker.py:1942 -- Started a local Ray instance at http://127.0.0.1:8265",
        "A helpful assistant answers the question step by step and gives the final answer at the end.",
    ]
    text = "\n".join(lines * 1200)
    # One after the other, so that a busy machine slows both.
    best = min(_seconds(text) / _seconds_to_count_words(text) for _ in range(8))

    # 51 MB/s where counting words runs at 28; a pattern that backtracks costs ten times as much.
    assert best < 1.5


def _seconds_to_count_words(text: str) -> float:
    start = time.thread_time()
    re.findall(r"\w+", text)
    return time.thread_time() - start


def _seconds(text: str) -> float:
    start = time.thread_time()
    assert redact(text) == text
    return time.thread_time() - start


_PIECES = st.sampled_from(
    [
        "token",
        "=",
        ": ",
        "'",
        '"',
        "password",
        "api_key",
        "\n",
        "sk-",
        drawn(24),
        "://",
        "@",
        "eyJ",
        ".",
        " ",
        "é█",
        "\\",
    ]
)


@settings(derandomize=True, max_examples=300)
@given(st.lists(_PIECES, max_size=30).map("".join))
def test_redacting_twice_changes_nothing_more_and_keeps_the_lines(text: str) -> None:
    once = redact(text)

    assert redact(once) == once
    assert once.count("\n") == text.count("\n")


@settings(derandomize=True, max_examples=300)
@given(st.text(max_size=200))
def test_any_text_passes_without_an_error(text: str) -> None:
    assert isinstance(redact(text), str)
    assert isinstance(redact_value(text, text), str)
