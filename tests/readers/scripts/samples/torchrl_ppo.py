import torch
from torchrl.collectors import SyncDataCollector
from torchrl.data.replay_buffers import ReplayBuffer
from torchrl.data.replay_buffers.samplers import SamplerWithoutReplacement
from torchrl.data.replay_buffers.storages import LazyTensorStorage
from torchrl.envs.libs.gym import GymEnv
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

lr = 3e-4
max_grad_norm = 1.0
frames_per_batch = 1000
total_frames = 50_000
sub_batch_size = 64
num_epochs = 10
clip_epsilon = 0.2
gamma = 0.99
lmbda = 0.95
entropy_eps = 1e-4

base_env = GymEnv("InvertedDoublePendulum-v4")
collector = SyncDataCollector(base_env, None, frames_per_batch=frames_per_batch, total_frames=total_frames)
replay_buffer = ReplayBuffer(storage=LazyTensorStorage(max_size=frames_per_batch), sampler=SamplerWithoutReplacement())
advantage_module = GAE(gamma=gamma, lmbda=lmbda, value_network=None, average_gae=True)
loss_module = ClipPPOLoss(actor_network=None, critic_network=None, clip_epsilon=clip_epsilon, entropy_coef=entropy_eps)
optim = torch.optim.Adam(loss_module.parameters(), lr)
for i, data in enumerate(collector):
    torch.nn.utils.clip_grad_norm_(loss_module.parameters(), max_grad_norm)
