from dataclasses import dataclass, field

from transformers import AutoModelForCausalLM, HfArgumentParser
from trl import RLOOConfig, RLOOTrainer


@dataclass
class ScriptArguments:
    dataset_name: str = field(default="trl-internal-testing/descriptiveness", metadata={"help": "data"})
    sft_model_path: str = "EleutherAI/pythia-1b-deduped"


if __name__ == "__main__":
    parser = HfArgumentParser((ScriptArguments, RLOOConfig))
    script_args, training_args = parser.parse_args_into_dataclasses()
    policy = AutoModelForCausalLM.from_pretrained(script_args.sft_model_path)
    trainer = RLOOTrainer(config=training_args, policy=policy, train_dataset=load_dataset(script_args.dataset_name))
    trainer.train()
