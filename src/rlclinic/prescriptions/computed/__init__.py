"""New values that need more than one step of one hyperparameter: one function per file, named in the tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from rlclinic.prescriptions.case import Case
from rlclinic.prescriptions.computed.action_std import usual_action_std
from rlclinic.prescriptions.computed.budget import larger_budget
from rlclinic.prescriptions.computed.buffer import larger_buffer
from rlclinic.prescriptions.computed.clip_higher import clip_higher
from rlclinic.prescriptions.computed.double_q import double_q
from rlclinic.prescriptions.computed.entropy_bonus import larger_entropy_bonus
from rlclinic.prescriptions.computed.epsilon import exploration_that_ends, longer_exploration
from rlclinic.prescriptions.computed.kl_penalty import kl_out_of_reward, stronger_kl, weaker_kl
from rlclinic.prescriptions.computed.language_model import calmer_language_model, same_sampling, some_validation
from rlclinic.prescriptions.computed.learning_starts import earlier_start, later_start
from rlclinic.prescriptions.computed.memory import less_memory
from rlclinic.prescriptions.computed.network import wider_network
from rlclinic.prescriptions.computed.reward_scale import larger_rewards, smaller_rewards
from rlclinic.prescriptions.computed.schedule import schedule_over_budget, steady_rate
from rlclinic.prescriptions.computed.some_exploration import some_exploration
from rlclinic.prescriptions.computed.target_network import faster_target, slower_target
from rlclinic.prescriptions.computed.temperature import learned_temperature
from rlclinic.prescriptions.computed.trust_region import wider_trust_region
from rlclinic.prescriptions.computed.update_count import fewer_updates, more_updates
from rlclinic.prescriptions.computed.valid_values import possible_values, valid_values
from rlclinic.prescriptions.computed.value_clip import wider_value_clip
from rlclinic.prescriptions.turn import Turn

COMPUTED: Mapping[str, Callable[[Case], tuple[Turn, ...]]] = {
    function.__name__: function
    for function in (
        calmer_language_model, clip_higher, double_q, earlier_start, exploration_that_ends, faster_target,
        fewer_updates, kl_out_of_reward, larger_budget, larger_buffer, larger_entropy_bonus, larger_rewards,
        later_start, learned_temperature, less_memory, longer_exploration, more_updates, possible_values, same_sampling,
        schedule_over_budget, slower_target, smaller_rewards, some_exploration, some_validation, steady_rate,
        stronger_kl, usual_action_std, valid_values, weaker_kl, wider_network, wider_trust_region, wider_value_clip,
    )
}  # fmt: skip
