"""Every setting with its default, section by section.

Where a default is ``None`` because it depends on other settings, :class:`masker.config.Settings` says what it is.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from masker.registry import METHODS, SCORES, Registry

Head = Literal["one-vs-rest", "multi-class", "multi-label", "regression"]
#: Heads with a sigmoid for each class.
SIGMOID_HEADS: tuple[Head, ...] = ("one-vs-rest", "multi-label")


def _registered(registry: Registry[Any]) -> AfterValidator:
    """Check that a name is registered; reading the registry is what finds plug-ins."""

    def check(name: str) -> str:
        if name != "auto" and name not in registry:
            raise ValueError(f"must be one of {', '.join(registry)}")
        return name

    return AfterValidator(check)


def checked_confidence(value: float | None) -> float | None:
    """A confidence in range; 0 is ``None``, which ``--confidence 0`` takes to go back to the average.

    Raises:
        ValueError: When it is out of range. Below one half, it is rather the share of failures that was typed.
    """
    if value and not 0.5 <= value < 1.0:
        raise ValueError("must be at least 0.5 and below 1, such as 0.95, or 0 to keep the rate on average")
    return value or None


class Section(BaseModel):
    """Settings that belong together."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class DataSettings(Section):
    """How rows become documents."""

    text_column: str | None = None
    text_pair_column: str | None = None
    label_column: str | None = None
    encoding: str = "utf-8"
    limit: int | None = Field(default=None, ge=1)
    #: Column -> the values of which a row must have one, such as ``{"genre": ["telephone"]}``.
    where: dict[str, Annotated[list[str], Field(min_length=1)]] | None = None
    skip_invalid: bool = False
    #: 0 holds nothing out: all documents train, the last weights are the model, and nothing is rejected until
    #: ``masker calibrate`` has set a threshold on other documents.
    validation_fraction: float = Field(default=0.1, ge=0.0, lt=1.0)
    #: Share of the held-out documents that choose neither checkpoint nor score, and only calibrate the rejection.
    calibration_share: float = Field(default=0.5, ge=0.0, lt=1.0)

    def all_rows(self) -> DataSettings:
        """The same settings for a second source: ``where`` and ``limit`` choose rows of the first one only."""
        return self.model_copy(update={"where": None, "limit": None})


class ModelSettings(Section):
    """Encoder, head, and how much of a document it reads."""

    #: An embedded encoder by name (docs/backbones.md), a hub id, or a folder.
    backbone: str = "minilm"
    #: Without a head, one that starts from a probe is multi-class, and a new one 1-vs-rest, as in the paper.
    head: Head = "multi-class"
    #: What the head reads: the mean of all tokens, or the document token. ``auto`` takes what a sentence encoder
    #: declares, and compares both on held-out documents for others.
    pooling: Literal["auto", "document-token", "mean"] = "auto"
    max_length: int = Field(default=256, ge=8)
    long_documents: Literal["head", "windows"] = "head"
    window_overlap: float = Field(default=0.25, ge=0.0, lt=1.0)
    window_pooling: Literal["mean", "max"] = "mean"
    trust_remote_code: bool = False

    @property
    def overlap(self) -> float | None:
        """Overlap of the windows over long documents; ``None`` if these are truncated."""
        return self.window_overlap if self.long_documents == "windows" else None


class KeywordSettings(Section):
    """How the keyword set is chosen. ``source`` is a scheme by name, or a file of words."""

    source: str = "attention"
    per_class: int = Field(default=10, ge=1)
    count: int | None = Field(default=None, ge=1)
    class_balanced: bool = False
    exclude_stop_words: bool = False
    exclude_punctuation: bool = False
    #: A model folder whose attention is read; without it a vanilla stage is trained first.
    attention_model: str | None = None
    #: Epochs of that vanilla stage; ``None`` is half of those that follow, or a short stage if the head has a start.
    attention_epochs: int | None = Field(default=None, ge=1)
    #: With ``source=random``: each token of a document is masked and reconstructed with this probability, drawn anew in
    #: each epoch (0.15 in the authors' code), instead of K tokens that are drawn once.
    random_share: float | None = Field(default=None, gt=0.0, le=1.0)


class MaskingSettings(Section):
    """The paper's p and q, and whether masked context words are replaced by the mask token or dropped.

    The paper describes both. Dropping is as good or better, and cheaper; see recipe ``context-form``.
    """

    keyword_mask_prob: float = Field(default=0.5, ge=0.0, le=1.0)
    context_mask_prob: float = Field(default=0.9, ge=0.0, le=1.0)
    context: Literal["mask", "drop"] = "drop"
    #: Share of the documents of a batch whose views are computed. Their loss terms count for the others, so the
    #: expected loss is the same at any share, and a step costs less.
    view_share: float = Field(default=0.25, gt=0.0, le=1.0)


class LossSettings(Section):
    """Weights and variants of the loss terms."""

    lambda_mkr: float = Field(default=1e-3, ge=0.0)
    lambda_mer: float = Field(default=1e-3, ge=0.0)
    mkr_reduction: Literal["sum", "mean"] = "sum"
    #: MER's target for f_doc when only keywords are left: all classes alike (the paper), or none of them.
    mer_target: Literal["uniform", "no-class"] = "uniform"
    #: Use of the keyword-masked view: reconstruct its keywords (the paper), or classify it (an ablation).
    keyword_view: Literal["reconstruct", "augment"] = "reconstruct"
    class_weights: Literal["none", "balanced"] = "none"
    #: Weight of a term that makes the attention of the document uniform; a negative result of the paper's appendix.
    lambda_attention: float = Field(default=0.0, ge=0.0)


class TrainingSettings(Section):
    """Method and optimization."""

    method: Annotated[str, _registered(METHODS)] = "masker"
    #: ``None`` trains by the number of documents (:mod:`masker.training.schedule`).
    epochs: int | None = Field(default=None, ge=1)
    #: Start the head from a probe, a logistic regression on the encoder's features, unless that is weak
    #: (:mod:`masker.training.run_probes`), or always from random weights (``new``).
    head_start: Literal["probe", "new"] = "probe"
    #: Average the weights over this last share of the steps, at a constant learning rate; 0 decays the rate and takes
    #: the best checkpoint. See docs/quality.md.
    averaged_share: float | None = Field(default=None, ge=0.0, le=1.0)
    #: Documents per batch over all processes: their number changes the speed, not the result.
    batch_size: int = Field(default=32, ge=1)
    gradient_accumulation: int = Field(default=1, ge=1)
    learning_rate: float = Field(default=1e-4, gt=0.0)
    #: Learning rate of the embedding layers, relative to the encoder's. 0 keeps them as they are, which saves a sixth
    #: of a step on short texts. A positive value applies where a regularizer is active, as in the paper.
    embedding_lr_scale: float = Field(default=0.0, ge=0.0)
    #: What that scale applies to: the layers that embed words, or the whole encoder, the paper's "embedding network".
    embedding_layers: Literal["words", "encoder"] = "words"
    #: Lowest layers of the encoder that are not trained; ``None`` is a third of them for few documents, else none.
    frozen_layers: int | None = Field(default=None, ge=0)
    #: At 1e-4 for the encoder, heads learn at 1e-3, Adam's usual rate for a new layer.
    head_lr_scale: float = Field(default=10.0, ge=0.0)
    #: ``auto`` keeps the rate where weights are averaged, and lets it fall to 0 where they are not.
    lr_schedule: Literal["auto", "constant", "linear"] = "auto"
    weight_decay: float = Field(default=0.0, ge=0.0)
    warmup_fraction: float = Field(default=0.1, ge=0.0, le=1.0)
    max_grad_norm: float = Field(default=1.0, ge=0.0)
    precision: Literal["auto", "bf16", "fp16", "fp32"] = "auto"
    seed: int = Field(default=0, ge=0, lt=2**32)
    logging_steps: int = Field(default=10, ge=1)
    report_to: list[str] = Field(default_factory=list)


class DetectionSettings(Section):
    """When a document counts as out-of-distribution."""

    score: Annotated[str, _registered(SCORES)] = "auto"
    #: Training documents kept for nearest neighbours, equally many of each class.
    bank: int = Field(default=2000, ge=1)
    neighbours: int = Field(default=1, ge=1)
    #: Most held-out documents that choose a score or set a threshold: more would cost memory and gain nothing.
    held_out: int = Field(default=10_000, ge=1)
    #: Whether to scale the confidence by a temperature fitted on held-out documents.
    calibrate_confidence: bool = True
    false_alarm_rate: float = Field(default=0.05, ge=0.0, le=1.0)
    #: Probability that this model keeps ``false_alarm_rate``; ``None`` keeps it on average over held-out sets.
    confidence: Annotated[float | None, AfterValidator(checked_confidence)] = None
    #: The threshold keeps ``false_alarm_rate``, or follows the rule that the method was published with.
    rule: Literal["false-alarm-rate", "published"] = "false-alarm-rate"
    #: Calibrate on documents set aside (``split``), or on all of them, each scored by a model that was trained without
    #: it (``cross-fit``); ``auto`` cross-fits small data (:mod:`masker.training.cross_fitting`).
    calibration: Literal["auto", "split", "cross-fit"] = "auto"
    #: One threshold for each predicted class with enough held-out documents, instead of one for all; of several labels,
    #: for each that enough held-out documents have.
    class_conditional: bool = False
    #: Share of its labels that a multi-label model may miss, on average (:mod:`masker.detection.risk_control`).
    missed_rate: float = Field(default=0.1, ge=0.0, le=1.0)


class BaselineSettings(Section):
    """Settings of the comparison systems; see docs/systems.md."""

    #: What the biased model of a residual ensemble is trained on: all documents, or those that contain keywords.
    residual_documents: Literal["all", "with-keywords"] = "all"
    #: The network under OpenMax: the fine-tuned encoder, or the convolutional network of DOC.
    openmax_network: Literal["encoder", "convolution"] = "encoder"
    openmax_tail: int = Field(default=20, ge=2)
    openmax_alpha: int = Field(default=10, ge=1)
    openmax_distance: Literal["euclidean", "euclidean-cosine"] = "euclidean"
    doc_filters: int = Field(default=100, ge=1)
    doc_hidden: int = Field(default=250, ge=1)
    doc_dropout: float = Field(default=0.5, ge=0.0, lt=1.0)
    doc_alpha: float = Field(default=3.0, ge=0.0)
    ocsvm_features: Literal["tf-idf", "encoder"] = "tf-idf"
    #: The exact solver is quadratic in documents; ``auto`` switches to sgd above ``ocsvm_exact_limit``.
    ocsvm_solver: Literal["auto", "exact", "sgd"] = "auto"
    ocsvm_exact_limit: int = Field(default=10_000, ge=1)
    ocsvm_nu: float = Field(default=0.1, gt=0.0, le=1.0)
    #: Feature vectors have length 1, so squared distances lie between 0 and 4.
    ocsvm_gamma: float = Field(default=1.0, gt=0.0)
    #: Nystroem landmarks of the sgd solver.
    ocsvm_components: int = Field(default=500, ge=1)


class AuditSettings(Section):
    """How a classifier is audited. Not part of :class:`Settings`: an audit trains nothing."""

    #: ``occlusion``, ``attention``, ``frequency``, a file of words, or a model folder with keywords.
    keywords: str = "occlusion"
    per_class: int = Field(default=10, ge=1)
    #: Documents drawn from the data; keywords are found on one half and measured on the other.
    documents: int = Field(default=1000, ge=2)
    #: Whether masked words are replaced by the mask token or dropped.
    masking: Literal["mask", "drop"] = "drop"
    #: The shares of the keywords to mask, one after the other.
    shares: tuple[Annotated[float, Field(gt=0.0, le=1.0)], ...] = (0.25, 0.5, 0.75, 1.0)
    #: Words that occlusion tries per wanted keyword.
    candidates_per_keyword: int = Field(default=5, ge=1)
    #: A keyword must occur in this many documents.
    minimum_documents: int = Field(default=2, ge=1)
    examples_per_class: int = Field(default=3, ge=0)
    resamples: int = Field(default=1000, ge=1)
    seed: int = Field(default=0, ge=0, lt=2**32)
