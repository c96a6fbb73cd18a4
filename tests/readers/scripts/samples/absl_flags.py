from absl import app, flags

flags.DEFINE_float("learning_rate", 3e-4, "step size")
flags.DEFINE_integer("batch_size", 256, "batch")
flags.DEFINE_string("env_name", "halfcheetah-medium-v2", "task")
flags.DEFINE_float("discount", 0.99, "discount")
FLAGS = flags.FLAGS
